import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { test as base, expect, vi } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../src/index.ts';

interface Upstream {
  readonly port: number;
  /** All that clients have said. */
  heard: string;
  readonly sockets: Socket[];
}

interface Fixtures {
  upstream: Upstream;
  proxy: TcpProxy;
}

/** The server answers every chunk with the same, in capitals. */
const test = base.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the names of the fixtures needed from it
  upstream: async ({}, use) => {
    const server = createServer();
    const upstream: Upstream = { port: await listen(server), heard: '', sockets: [] };
    server.on('connection', (socket) => {
      upstream.sockets.push(socket);
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        upstream.heard += chunk.toString();
        socket.write(chunk.toString().toUpperCase());
      });
    });
    await use(upstream);
    for (const socket of upstream.sockets) socket.destroy();
    server.close();
  },
  proxy: async ({ upstream }, use) => {
    await using proxy = await startTcpProxy({ targetPort: upstream.port });
    await use(proxy);
  },
});

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

interface Client {
  readonly socket: Socket;
  heard: string;
  closed: boolean;
}

async function dial(proxy: TcpProxy): Promise<Client> {
  const socket = connect(proxy.port, '127.0.0.1');
  const client: Client = { socket, heard: '', closed: false };
  socket.on('data', (chunk) => (client.heard += chunk.toString()));
  socket.on('error', () => {});
  socket.on('close', () => (client.closed = true));
  await once(socket, 'connect');
  return client;
}

async function say(client: Client, text: string): Promise<void> {
  const before = client.heard;
  client.socket.write(text);
  await vi.waitFor(() => expect(client.heard).toBe(before + text.toUpperCase()));
}

test('passes both ways, and both kinds of end', async ({ proxy, upstream }) => {
  const client = await dial(proxy);
  await say(client, 'hello');
  client.socket.end();
  await vi.waitFor(() => expect(upstream.sockets[0]?.destroyed).toBe(true));
  const other = await dial(proxy);
  await say(other, 'again');
  upstream.sockets[1]?.resetAndDestroy();
  await vi.waitFor(() => expect(other.closed).toBe(true));
  await vi.waitFor(() => expect(proxy.connectionCount).toBe(0));
});

test('passes more than the buffers hold, in order', async ({ proxy }) => {
  const client = await dial(proxy);
  const text = Array.from({ length: 400_000 }, (_, n) => `a${n}`).join();
  await say(client, text);
});

test('counts clients', async ({ proxy }) => {
  const client = await dial(proxy);
  await dial(proxy);
  await vi.waitFor(() => expect(proxy.connectionCount).toBe(2));
  client.socket.destroy();
  await vi.waitFor(() => expect(proxy.connectionCount).toBe(1));
});

test('cut resets both ends and refuses until heal', async ({ proxy, upstream }) => {
  const client = await dial(proxy);
  await say(client, 'a');
  await proxy.cut();
  await vi.waitFor(() => expect([client.closed, upstream.sockets[0]?.destroyed]).toEqual([true, true]));
  await expect(dial(proxy)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await proxy.heal();
  await say(await dial(proxy), 'b');
});

test('hang loses everything, an end too, and accepts new clients that the server never sees', async ({ proxy, upstream }) => {
  const client = await dial(proxy);
  await say(client, 'a');
  await proxy.hang();
  client.socket.write('lost');
  const late = await dial(proxy);
  late.socket.write('lost');
  client.socket.destroy();
  await vi.waitFor(() => expect(proxy.connectionCount).toBe(1));
  expect([upstream.heard, upstream.sockets.length, upstream.sockets[0]?.destroyed]).toEqual(['a', 1, false]);

  await proxy.heal();
  await vi.waitFor(() => expect([late.closed, upstream.sockets[0]?.destroyed]).toEqual([true, true]));
  expect(late.heard).toBe('');
});

test('heal leaves alone a connection that lost nothing', async ({ proxy }) => {
  const client = await dial(proxy);
  await say(client, 'a');
  await proxy.hang();
  await proxy.heal();
  await say(client, 'b');
});

test('dropReplies lets requests reach the server and loses the replies', async ({ proxy, upstream }) => {
  const client = await dial(proxy);
  await say(client, 'a');
  await proxy.dropReplies();
  client.socket.write('b');
  await vi.waitFor(() => expect(upstream.heard).toBe('ab'));
  const late = await dial(proxy);
  late.socket.write('c');
  await vi.waitFor(() => expect(upstream.heard).toBe('abc'));
  await vi.waitFor(async () => {
    await proxy.heal();
    expect([client.closed, late.closed]).toEqual([true, true]);
  });
  expect([client.heard, late.heard]).toEqual(['A', '']);
});

test('delay makes a round trip take twice as long, and keeps the order when it ends', async ({ proxy }) => {
  const client = await dial(proxy);
  proxy.delay(60);
  const start = performance.now();
  await say(client, 'a');
  // Node's timers may run up to a millisecond early.
  expect(performance.now() - start).toBeGreaterThanOrEqual(118);
  client.socket.write('b');
  proxy.delay(0);
  client.socket.write('c');
  await vi.waitFor(() => expect(client.heard).toBe('ABC'));
});

test('rewrites a connection string', async ({ proxy }) => {
  const base = 'postgresql://me:secret@db.example:5432/app?sslmode=disable';
  expect(proxy.connectionString(base)).toBe(`postgresql://me:secret@127.0.0.1:${proxy.port}/app?sslmode=disable`);
});

test('goes from cut to hang: clients are accepted again, and left alone', async ({ proxy, upstream }) => {
  await proxy.cut();
  await proxy.hang();
  const client = await dial(proxy);
  client.socket.write('lost');
  await proxy.heal();
  await vi.waitFor(() => expect(client.closed).toBe(true));
  expect(upstream.sockets).toEqual([]);
});

test('cannot be healed once it is stopped', async ({ proxy }) => {
  await proxy.stop();
  await proxy.stop();
  await expect(proxy.heal()).rejects.toMatchObject({ code: 'LEASEHOLD_STOPPED' });
});
