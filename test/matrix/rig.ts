import type { ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Leasehold } from '@leasehold/core';
import type { RoleHolderProxyOptions, RoleLeaseView } from '@leasehold/proxy';
import { type FakeLeasehold, fakeLeasehold, heldBy } from '../support/http/fake-leasehold.ts';
import { RawClient } from '../support/http/raw-client.ts';
import { countConnections, type TestServer } from '../support/http/servers.ts';
import type { Before, Host, Setting } from './host.ts';
import { type LeakWatch, listenersOf } from './leaks.ts';

export interface Rig {
  /** The instance that clients talk to; it does not hold the role. */
  readonly front: Omit<TestServer, 'close'>;
  readonly leasehold: FakeLeasehold;
  /** What reached the application of the front instance. */
  readonly local: string[];
  connect(): Promise<RawClient>;
}

export interface RigOptions extends Partial<RoleHolderProxyOptions> {
  /** Id of the front instance. */
  readonly id?: string;
  readonly server?: ServerOptions;
  /** What the front instance sees of the role, beside the holder. */
  readonly lease?: Partial<RoleLeaseView>;
  readonly before?: Before;
  readonly localFields?: Setting['localFields'];
}

/** Starts the application of a host, whose role `maintenance` (prefixes `/m` and `/streams`) is held at `holderOrigin`. */
export type StartRig = (holderOrigin: string | null, options?: RigOptions) => Promise<Rig>;

export function rigOn(host: Host, watch: () => LeakWatch): StartRig {
  return async (holderOrigin, { id, server: serverOptions = {}, lease, before = null, localFields = {}, ...options } = {}) => {
    const leasehold = fakeLeasehold({ ...heldBy(holderOrigin), ...lease }, id);
    const local: string[] = [];
    const application = await host.start({
      leasehold: withLifeCycle(leasehold),
      options: { role: 'maintenance', prefixes: ['/m', '/streams'], ...options },
      server: serverOptions,
      before,
      localFields,
      executed: ({ method, url }) => void local.push(`${method} ${url}`),
    });
    const { server } = application;
    const { port } = server.address() as AddressInfo;
    const counted = countConnections(server);
    const listeners = listenersOf(server);
    watch().add({ server, listeners, sockets: counted.sockets, close: () => application.close() });
    const front = { server, port, origin: `http://127.0.0.1:${port}`, ...counted };
    return { front, leasehold, local, connect: () => RawClient.connect(port) };
  };
}

/** With what else of a Leasehold an adapter calls. */
function withLifeCycle(leasehold: FakeLeasehold): Leasehold {
  const lifeCycle = {
    start: async () => {},
    stop: async () => {},
    advertise: (address: string) => void (leasehold.instance.address = address),
  };
  return Object.assign(leasehold, lifeCycle) as unknown as Leasehold;
}
