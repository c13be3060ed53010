import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startCopy } from './support/copies.ts';
import { hosts } from './support/hosts.ts';

/** A client that sends what it likes, and remembers what comes back. */
function rawClient(origin: string) {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(origin).port) });
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  return { socket, received: () => received, closed: once(socket, 'close') };
}

const GET = 'GET /wait HTTP/1.1\r\nHost: a\r\n\r\n';

test.each(hosts)('$name: behind an answer that closes the connection nothing runs', async (host) => {
  const waiting: ServerResponse[] = [];
  const routes = {
    routes: ({ app }: { app: ReturnType<typeof host.express> }) => app.get('/wait', (_, response) => void waiting.push(response)),
  };
  const { origin, lifecycle } = await startCopy(host, routes);
  const client = rawClient(origin);
  client.socket.write(GET);
  await expect.poll(() => waiting.length).toBe(1);
  const other = rawClient(origin);
  other.socket.write(GET);
  await expect.poll(() => waiting.length).toBe(2);
  const closed = lifecycle.close();
  client.socket.write(GET);
  // Sent later on a connection of its own, and answered before: the server has read both by then.
  waiting[1]?.end('other');
  await other.closed;
  expect(waiting).toHaveLength(2);
  waiting[0]?.end('first');
  await Promise.all([closed, client.closed]);
  expect(client.received().match(/HTTP\/1\.1 \d+|connection: \w+|first/gi)).toEqual([
    'HTTP/1.1 200',
    'connection: close',
    'first',
  ]);
});
