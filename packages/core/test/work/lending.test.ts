import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { runStatement } from '../../src/work/run-statement.ts';

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

test('a session that the server ends in the moment in which it is lent fails the statement, and not the process', async () => {
  const pool = new pg.Pool({ host: '127.0.0.1', port: await endingServer(), user: 'app', database: 'app' });
  onTestFinished(() => pool.end());
  pool.on('error', () => {});
  // Without a listener at that moment, the error of the client would be nobody's, and this run would end with it.
  const statement = runStatement(pool, { text: 'select 1', values: [] }, { clock: systemClock, timeoutMs: 5_000, what: 'test' });
  await expect(statement).rejects.toThrow(/terminat|not queryable/i);
});
