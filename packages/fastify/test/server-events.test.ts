import websocket from '@fastify/websocket';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import type { RoleHolderProxy } from '@leasehold/proxy';
import type { FastifyInstance } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ServerEvents } from '../src/server-events.ts';
import { origin, startPair, whoRoutes } from './support/apps.ts';
import { rawExchange, upgradeLines } from '../../../test/support/raw.ts';

function socketRoutes(app: FastifyInstance): void {
  app.register(websocket);
  app.register(async (child) => {
    const greet = (socket: { send(text: string): void }): void => socket.send(app.leasehold.instance.label);
    child.get('/maintenance/live', { websocket: true }, greet);
    child.get('/live', { websocket: true }, greet);
  });
}

/** The first message, or how the connection was refused. */
function firstMessage(app: FastifyInstance, path: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = new WebSocket(`${origin(app).replace('http', 'ws')}${path}`);
  socket.addEventListener('message', (event) => {
    resolve(String(event.data));
    socket.close();
  });
  socket.addEventListener('error', () => resolve('refused'));
  return promise;
}

describe('beside a WebSocket plugin', () => {
  test('the holder takes upgrades under the prefix', async () => {
    const { holder } = await startPair({ routes: socketRoutes });
    expect(await firstMessage(holder, '/maintenance/live')).toBe('holder');
  });

  test('another copy takes its own', async () => {
    const { other } = await startPair({ routes: socketRoutes });
    expect(await firstMessage(other, '/live')).toBe('other');
  });

  test('another copy passes those under the prefix to the holder, and its plugin never sees them', async () => {
    const { other } = await startPair({ routes: socketRoutes });
    expect(await firstMessage(other, '/maintenance/live')).toBe('holder');
  });

  test('what the holder refuses comes as one whole answer', async () => {
    const { other } = await startPair({ routes: socketRoutes });
    const answer = await rawExchange(origin(other), [...upgradeLines('/maintenance/live'), 'Leasehold-Hop: maintenance;x;0']);
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(answer).toMatch(/retry-after: [1-9]/i);
    expect(answer).toContain('"reason":"failover"');
  });

  test('an open tunnel does not keep another copy from closing', async () => {
    const { other } = await startPair({ routes: socketRoutes });
    const socket = new WebSocket(`${origin(other).replace('http', 'ws')}/maintenance/live`);
    const closed = once(socket, 'close');
    await once(socket, 'message');
    await other.close();
    await closed;
    expect(socket.readyState).toBe(WebSocket.CLOSED);
  });
});

describe('where nobody listens for upgrades', () => {
  test('a request that asks for one is a request like any other', async () => {
    const { holder, other } = await startPair({ routes: whoRoutes });
    const ask = (app: FastifyInstance, path: string): Promise<string> =>
      rawExchange(origin(app), [`GET ${path} HTTP/1.1`, 'Host: app.test', 'Connection: Upgrade, close', 'Upgrade: h2c']);
    expect(await ask(other, '/who')).toContain('{"by":"other"}');
    expect(await ask(holder, '/maintenance/who')).toContain('{"by":"holder"}');
  });
});

describe('while the application closes', () => {
  /** The answer to a request that comes when close() has begun, on a connection with another request still in flight. */
  async function answerWhileClosing(lines: readonly string[]): Promise<string> {
    const gate = Promise.withResolvers<string>();
    let begun = false;
    const { holder } = await startPair({
      fastify: { forceCloseConnections: false },
      routes: (app) => {
        app.get('/slow', () => {
          begun = true;
          return gate.promise;
        });
      },
    });
    const { hostname, port } = new URL(origin(holder));
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    const ended = once(socket, 'end');
    socket.write('GET /slow HTTP/1.1\r\nHost: app.test\r\n\r\n');
    await expect.poll(() => begun).toBe(true);
    const closed = holder.close();
    await expect.poll(() => holder.server.listening).toBe(false);
    socket.write([...lines, '', ''].join('\r\n'));
    gate.resolve('slow');
    await Promise.all([ended, closed]);
    return received.slice(received.indexOf('HTTP/1.1', 'HTTP/1.1'.length));
  }

  test('a request that another copy forwards to it is refused with Retry-After, and its connection closed', async () => {
    const hop = 'Leasehold-Hop: maintenance;other;0';
    const answer = await answerWhileClosing(['GET /maintenance/x HTTP/1.1', 'Host: app.test', hop]);
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toMatch(/retry-after: [1-9]/i);
    expect(answer).toMatch(/connection: close/i);
    expect(answer).toContain('"reason":"failover"');
  });

  test("what is not under a prefix is Fastify's to refuse", async () => {
    const answer = await answerWhileClosing(['GET /elsewhere HTTP/1.1', 'Host: app.test']);
    expect(answer).toContain('"error":"Service Unavailable"');
  });
});

describe('ServerEvents', () => {
  const answering = { handleUpgrade: () => true } as unknown as RoleHolderProxy;
  const passing = { handleUpgrade: () => false } as unknown as RoleHolderProxy;

  test('adds no listener, and leaves no trace when it is released', () => {
    const server = createServer();
    const emit = server.emit;
    const events = new ServerEvents(server, answering);
    expect(server.listenerCount('upgrade')).toBe(0);
    events.release();
    expect(server.emit).toBe(emit);
  });

  test('released under another wrapper, it lets everything through', () => {
    const server = createServer();
    let upgrades = 0;
    server.on('upgrade', () => (upgrades += 1));
    const inner = new ServerEvents(server, answering);
    const outer = new ServerEvents(server, passing);
    server.emit('upgrade', {}, new PassThrough());
    expect(upgrades).toBe(0);
    inner.release();
    server.emit('upgrade', {}, new PassThrough());
    expect(upgrades).toBe(1);
    outer.release();
  });
});
