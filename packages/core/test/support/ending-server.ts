import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import pg from 'pg';
import { onTestFinished } from 'vitest';

function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const SHUTTING_DOWN = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'));

/** A server that ends each session with the very packet that says it is ready, as one does that is shutting down. */
async function endingServer(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, SHUTTING_DOWN])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A pool whose sessions are ended in the moment in which they are lent. */
export async function endingPool(): Promise<pg.Pool> {
  const pool = new pg.Pool({ host: '127.0.0.1', port: await endingServer(), user: 'app', database: 'app' });
  onTestFinished(() => pool.end());
  pool.on('error', () => {});
  return pool;
}
