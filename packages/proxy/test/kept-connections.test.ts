import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import http from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fakeLeasehold, heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { RawClient } from '../../../test/support/http/raw-client.ts';
import { httpServer, rawHolder } from '../../../test/support/http/servers.ts';
import { KeptConnections } from '../src/kept-connections.ts';
import { createRoleHolderProxy } from '../src/index.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

function keepTo(port: number): KeptConnections {
  const connections = new KeptConnections({ host: '127.0.0.1', port }, 4_000);
  onTestFinished(() => connections.close());
  return connections;
}

/** One request on a connection that is then kept; resolves at the moment when it is over. */
async function exchangeOn(connections: KeptConnections, socket: Socket): Promise<void> {
  const request = http.request({ createConnection: () => socket, headers: ['Host', 'a'], setDefaultHeaders: false });
  request.shouldKeepAlive = true;
  connections.keepAfter(request, socket);
  request.on('response', (answer) => answer.resume());
  request.end();
  await once(request, 'close');
}

describe('a connection that became free', () => {
  test('is used again one round of the event loop later, when stray bytes have been read', async () => {
    const holder = await httpServer((_, response) => void response.end('ok'));
    const connections = keepTo(holder.port);
    const socket = connections.open();
    await exchangeOn(connections, socket);
    expect(connections.takeIdle()).toBeUndefined();
    await new Promise((resolve) => setImmediate(resolve));
    expect(connections.takeIdle() === socket).toBe(true);
  });

  test('is closed by the first byte that no request has asked for', async () => {
    let stray = (): void => {};
    const holder = await rawHolder((socket) => {
      socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      stray = () => void socket.write('H');
    });
    const connections = keepTo(holder.port);
    const socket = connections.open();
    await exchangeOn(connections, socket);
    stray();
    await vi.waitFor(() => expect(socket.destroyed).toBe(true));
    expect(connections.takeIdle()).toBeUndefined();
  });

  test('is not kept once all are to be closed', async () => {
    const holder = await httpServer((_, response) => void response.end('ok'));
    const connections = keepTo(holder.port);
    const socket = connections.open();
    await exchangeOn(connections, socket);
    connections.close();
    await vi.waitFor(() => expect(socket.destroyed).toBe(true));
  });
});

describe('connections that are read at the same time', () => {
  const LETTERS = ['a', 'b', 'c', 'd'];
  const LENGTH = 1_000_000;

  /** The chunks as they were given, held until all has arrived: they are copied by nobody here. */
  async function chunksOf(connections: KeptConnections, path: string): Promise<Buffer[]> {
    const request = http.request({
      createConnection: () => connections.open(),
      path,
      headers: ['Host', 'a'],
      setDefaultHeaders: false,
    });
    request.end();
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    return answer.toArray();
  }

  test('give each request its own bytes, however long these are held', async () => {
    const holder = await httpServer((request, response) => void response.end((request.url ?? '').slice(1).repeat(LENGTH)));
    const connections = keepTo(holder.port);
    const answers = await Promise.all(LETTERS.map((letter) => chunksOf(connections, `/${letter}`)));
    expect(answers.map((chunks) => Buffer.concat(chunks).equals(Buffer.alloc(LENGTH, chunks[0]?.[0])))).toEqual(
      LETTERS.map(() => true),
    );
    expect(answers.map((chunks) => String.fromCharCode(chunks[0]?.[0] ?? 0))).toEqual(LETTERS);
  });

  test('leave an error, however long it is kept, with the bytes that it is about', async () => {
    const garbage = 'no HTTP at all'.padEnd(200, '.');
    const holder = await rawHolder((socket, head) => {
      if (head.startsWith('GET /broken')) socket.write(garbage);
      else socket.write('HTTP/1.1 204 No Content\r\nX-Secret: of somebody else\r\n\r\n');
    });
    const proxy = createRoleHolderProxy(fakeLeasehold(heldBy(holder.origin)), { role: 'maintenance', prefixes: ['/'] });
    const errors: unknown[] = [];
    const onRejected = (message: unknown): void => void errors.push((message as { error?: unknown }).error);
    subscribe('leasehold:proxy.rejected', onRejected);
    onTestFinished(() => void unsubscribe('leasehold:proxy.rejected', onRejected));
    const front = await httpServer((request, response) => proxy.handle(request, response, () => response.end()));
    const client = await RawClient.connect(front.port);
    expect((await client.send('GET /broken HTTP/1.1\r\nHost: a\r\n\r\n').response()).status).toBe(503);
    expect((await client.send(GET).response()).status).toBe(204);
    const [error] = errors as [{ rawPacket: Buffer }];
    expect(error.rawPacket.toString('latin1')).toBe(garbage);
  });

  test('go on where the reader has paused in between', async () => {
    const holder = await httpServer((_, response) => void response.end('a'.repeat(LENGTH)));
    const request = http.request({
      createConnection: () => keepTo(holder.port).open(),
      headers: ['Host', 'a'],
      setDefaultHeaders: false,
    });
    request.end();
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    let length = 0;
    answer.on('data', (chunk: Buffer) => {
      length += chunk.length;
      answer.pause();
      setImmediate(() => answer.resume());
    });
    await once(answer, 'end');
    expect(length).toBe(LENGTH);
  });
});

test('a broken connection is answered in the context of its request, not of the one that opened it', async () => {
  const storage = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  let asked = 0;
  const holder = await httpServer((request, response) => {
    if (++asked === 1) response.end('ok');
    else request.socket.resetAndDestroy();
  });
  const proxy = createRoleHolderProxy(fakeLeasehold(heldBy(holder.origin)), { role: 'maintenance', prefixes: ['/m'] });
  let requests = 0;
  const front = await httpServer((request, response) => {
    const { end } = response;
    response.end = ((...args: Parameters<typeof end>) => {
      seen.push(storage.getStore());
      return end.apply(response, args);
    }) as typeof end;
    storage.run(`request ${++requests}`, () => proxy.handle(request, response, () => response.end()));
  });
  const client = await RawClient.connect(front.port);
  expect((await client.send(GET).response()).status).toBe(200);
  expect((await client.send(GET).response()).status).toBe(503);
  expect(holder.accepted.count).toBe(1);
  expect(seen).toEqual(['request 1', 'request 2']);
});
