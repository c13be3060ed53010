import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { LoadConnection, type LoadWork } from '../../src/proxy/processes/load-connection.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

/** Answers each request of the load as the next entry says; `null` closes the connection instead. */
async function run(answers: readonly (string | null)[]): Promise<{ results: (string | null)[]; connections: number }> {
  const server = createServer();
  const left = [...answers];
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.on('data', () => {
      const answer = left.shift() ?? null;
      if (answer === null) socket.destroy();
      else socket.write(answer);
    });
  });
  const port = await listen(server);
  const results = await new Promise<(string | null)[]>((resolve) =>
    new LoadConnection(port, work(answers.length, resolve)).run(),
  );
  return { results, connections };
}

function work(requests: number, done: (results: (string | null)[]) => void): LoadWork {
  const results: (string | null)[] = [];
  let unsent = requests;
  return {
    next: () => (unsent-- > 0 ? { request: Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'), answerLength: 5 } : null),
    answered(failure) {
      results.push(failure);
      if (results.length === requests) done(results);
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

it('asks again on the same connection', async () => {
  expect(await run([OK, OK, OK])).toEqual({ results: [null, null, null], connections: 1 });
});

it.each<[string, string | null]>([
  ['HTTP/1.1 503 No, length 5', 'HTTP/1.1 503 No\r\nContent-Length: 5\r\n\r\nhello'],
  ['HTTP/1.1 200 OK, length 4', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell'],
  ['HTTP/1.1 200 OK, length undefined', 'HTTP/1.1 200 OK\r\n\r\nhello'],
  ['more than the length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello world'],
  ['the connection was closed', null],
])('a failure, %s, has a name, and the next request goes over a new connection', async (failure, answer) => {
  expect(await run([OK, answer, OK])).toEqual({ results: [null, failure, null], connections: 2 });
});

it('a connection that the answer closes is no failure', async () => {
  const closing = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello';
  expect(await run([closing, OK])).toEqual({ results: [null, null], connections: 2 });
});
