import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Leasehold, RolePartition } from '@leasehold/core';
import { partitionHolderProxy } from '@leasehold/proxy';
import { nowUs } from '../../../lab/src/monotonic.ts';
import type { WriteLine } from '../../../lab/src/worker/log-file.ts';
import { type Line, PARTITION, PREFIX, SERVED_BY } from './config.ts';

/** As long as the others may take to hear that nothing is held here any more. */
export const HEARD_MS = 250;

export interface KeyedServer {
  readonly port: number;
  /** Once all that is under way is answered. */
  close(): Promise<void>;
}

/** `/devices/<key>?id=<id>` is executed by the owner of the key, which writes it down before anything else. */
export async function startServer(leasehold: Leasehold, devices: RolePartition, write: WriteLine<Line>): Promise<KeyedServer> {
  const handler = partitionHolderProxy(leasehold, {
    partition: PARTITION,
    prefixes: [PREFIX],
    affinityKey: ({ url }) => keyOf(url),
    connectTimeout: 500,
    headTimeout: 1_000,
  });
  const server = createServer((request, response) => {
    // The time first: a process that is frozen in between has looked too early, and not decided too late.
    const at = nowUs();
    const lease = devices.resolve(keyOf(request.url));
    const token = lease.fencingToken === null ? null : Number(lease.fencingToken);
    handler(request, response, () => {
      const id = new URL(request.url ?? '/', 'http://lab').searchParams.get('id') ?? 'unknown';
      write({ k: 'run', id, role: lease.role, at, token });
      response.setHeader(SERVED_BY, leasehold.instance.id).end('done');
    });
  });
  // A server that idles connections out while a request is on its way would fail that request.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1_024, resolve));
  const { port } = server.address() as AddressInfo;
  leasehold.advertise(`http://127.0.0.1:${port}`);
  return {
    port,
    close: async () => {
      handler.proxy.close();
      await closed(server);
    },
  };
}

function keyOf(url: string | undefined): string {
  return url?.split(/[/?]/)[2] ?? '';
}

function closed(server: Server): Promise<unknown> {
  const closing = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  return closing;
}
