import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Longer than any pause between two slots: nobody is to meet a connection that is just being closed. */
const KEEP_ALIVE_MS = 300_000;

/** On a free port of 127.0.0.1. Returns the origin. */
export async function listen(server: Server): Promise<string> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
