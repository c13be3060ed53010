import websocket from '@fastify/websocket';
import { createServer } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import { interceptUpgrades } from '../src/upgrades.ts';
import { origin, startPair, whoRoutes } from './support/apps.ts';
import { rawExchange, upgradeLines } from './support/raw.ts';

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

  test('another copy refuses those under the prefix with one whole answer, and its plugin never sees them', async () => {
    const { other } = await startPair({ routes: socketRoutes });
    expect(await firstMessage(other, '/maintenance/live')).toBe('refused');
    const answer = await rawExchange(other, upgradeLines('/maintenance/live'));
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(answer).toMatch(/retry-after: [1-9]/i);
    expect(answer).toContain('"reason":"upgrade-not-forwarded"');
  });
});

describe('where nobody listens for upgrades', () => {
  test('a request that asks for one is a request like any other', async () => {
    const { holder, other } = await startPair({ routes: whoRoutes });
    const ask = (app: FastifyInstance, path: string): Promise<string> =>
      rawExchange(app, [`GET ${path} HTTP/1.1`, 'Host: app.test', 'Connection: Upgrade, close', 'Upgrade: h2c']);
    expect(await ask(other, '/who')).toContain('{"by":"other"}');
    expect(await ask(holder, '/maintenance/who')).toContain('{"by":"holder"}');
  });
});

describe('interceptUpgrades', () => {
  const answered = { handleUpgrade: () => true } as never;

  test('adds no listener, and leaves no trace when it is undone', () => {
    const server = createServer();
    const emit = server.emit;
    const undo = interceptUpgrades(server, answered);
    expect(server.listenerCount('upgrade')).toBe(0);
    undo();
    expect(server.emit).toBe(emit);
  });

  test('undone under another wrapper, it lets everything through', () => {
    const server = createServer();
    let seen = 0;
    server.on('upgrade', () => (seen += 1));
    const undoInner = interceptUpgrades(server, answered);
    const undoOuter = interceptUpgrades(server, { handleUpgrade: () => false } as never);
    server.emit('upgrade');
    expect(seen).toBe(0);
    undoInner();
    server.emit('upgrade');
    expect(seen).toBe(1);
    undoOuter();
  });
});
