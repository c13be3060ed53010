import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLeasehold, type Leasehold, type Term } from '@leasehold/core';
import { postgresStore, withFence } from '@leasehold/core/postgres';
import { partitionHolderProxy } from '@leasehold/proxy';
import pg from 'pg';
import type { Gateway } from './device-session.ts';
import { DeviceSessions } from './device-sessions.ts';

export interface AppOptions {
  readonly connectionString: string;
  readonly label: string;
  readonly port: number;
  readonly gateway: Gateway;
}

export interface App {
  readonly origin: string;
  close(): Promise<void>;
}

const WRITE = 'insert into device_command (id, device, role, instance, fencing_token) values ($1, $2, $3, $4, $5)';
/** As long as the others may take to hear that nothing is held here any more. */
const HEARD_MS = 250;

/** One process of the application. Start as many as you like: each device belongs to one of them at any moment. */
export async function startApp({ connectionString, label, port, gateway }: AppOptions): Promise<App> {
  const pool = new pg.Pool({ connectionString, max: 5 });
  pool.on('error', (error) => console.error(`an idle connection to PostgreSQL broke: ${error.message}`));

  const leasehold = createLeasehold({
    store: postgresStore({ connectionString }),
    instance: { label },
    leaseDuration: '3s',
  });
  const devices = leasehold.partition('devices', { count: 64, balance: 'fair' });

  // The connections: to the devices that are owned here.
  const sessions = new DeviceSessions({ devices, gateway, label });
  const { rows } = await pool.query<{ id: string }>('select id from device');
  sessions.keep(rows.map(({ id }) => id));

  // The requests: POST /devices/<id>/commands/<command> to any process; what another one owns, the proxy forwards.
  const proxy = partitionHolderProxy(leasehold, {
    partition: 'devices',
    prefixes: ['/devices'],
    affinityKey: (request) => wordsOf(request).device,
  });
  const server = createServer((request, response) => {
    proxy(request, response, () => void execute(request, response).catch((error: unknown) => failed(response, error)));
  });
  const close = (): Promise<void> => stop(leasehold, { server, proxy, pool });
  const origin = await listen(server, port);
  leasehold.advertise(origin);
  await leasehold.start();
  return { origin, close };

  /** On the owner: writes the command down under the fence, then sends it over the open connection. */
  async function execute(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { device = '', command = '' } = wordsOf(request);
    const work = await devices.whileHeld(device, async (term) => {
      const session = sessions.get(device);
      if (session === undefined) return null;
      await write(term, device, command);
      return { by: label, token: Number(term.fencingToken), executed: await session.send(command) };
    });
    if (work.ran && work.value !== null) return answer(response, work.value.executed ? 200 : 502, work.value);
    response.setHeader('retry-after', '1');
    answer(response, 503, { error: 'the device is not connected yet, or not any more' });
  }

  async function write(term: Term, device: string, command: string): Promise<void> {
    const values = [command, device, term.role, term.holder, String(term.fencingToken)];
    await withFence(pool, term, (client) => client.query(WRITE, values), { stallTimeout: '1s' });
  }
}

interface Words {
  readonly device: string | undefined;
  readonly command: string | undefined;
}

/** For the proxy and the route alike: both have to read the same device out of a path. */
function wordsOf({ url = '' }: IncomingMessage): Words {
  const [, device, command] = /^\/devices\/([\w-]+)\/commands\/([\w-]+)$/.exec(url) ?? [];
  return { device, command };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A fence that refused, or a database that is away. */
function failed(response: ServerResponse, error: unknown): void {
  answer(response, 503, { error: String(error) });
}

type Server = ReturnType<typeof createServer>;

async function listen(server: Server, port: number): Promise<string> {
  // A server that idles connections out while a request is on its way would fail that request.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Parts {
  readonly server: Server;
  readonly proxy: ReturnType<typeof partitionHolderProxy>;
  readonly pool: pg.Pool;
}

/** The devices first; then the server, when the others have heard; the pool last, which the work under the roles needs. */
async function stop(leasehold: Leasehold, { server, proxy, pool }: Parts): Promise<void> {
  await leasehold.stop();
  await sleep(HEARD_MS);
  proxy.proxy.close();
  await new Promise((resolve) => server.close(resolve));
  await pool.end();
}
