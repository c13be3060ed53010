import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the range that operating systems give to outgoing connections (from 32768 on Linux). A port from that range
 * could be taken by any client while a server restarts, and a client that dials a closed one may even reach itself.
 */
const LOWEST = 15_000;
const HIGHEST = 31_999;
const ATTEMPTS = 100;

/** A port of 127.0.0.1 that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1));
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port on 127.0.0.1 between ${LOWEST} and ${HIGHEST} after ${ATTEMPTS} attempts.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
