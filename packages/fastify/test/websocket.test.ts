import { once } from 'node:events';
import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { origin, startPair } from './support/apps.ts';
import { rawExchange, upgradeLines } from '../../../test/support/raw.ts';

interface Message {
  readonly by: string;
  readonly echo: string;
}

/** Routes that echo, and say who does; one is guarded and under no prefix. */
function echoRoutes(app: FastifyInstance): void {
  app.register(websocket);
  app.register(async (child) => {
    const echo = (socket: WebSocket): void => {
      const by = app.leasehold.instance.label;
      socket.addEventListener('message', ({ data }) => socket.send(JSON.stringify({ by, echo: String(data) })));
    };
    const options = { websocket: true } as const;
    child.get('/maintenance/echo', options, echo as never);
    child.get('/maintenance/guarded', { ...options, config: { role: 'maintenance' } }, echo as never);
    child.get('/guarded', { ...options, config: { role: 'maintenance' } }, echo as never);
    child.get('/required', { ...options, onRequest: app.requireRole('maintenance') }, echo as never);
  });
}

async function open(app: FastifyInstance, path: string): Promise<WebSocket> {
  const socket = new WebSocket(`${origin(app).replace('http', 'ws')}${path}`);
  onTestFinished(() => socket.close());
  await once(socket, 'open');
  return socket;
}

/** Sends all at once, and waits for as many answers. */
async function exchange(socket: WebSocket, sent: readonly string[]): Promise<Message[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Message[]>();
  const got: Message[] = [];
  socket.addEventListener('close', () => reject(new Error(`closed after ${got.length} answers`)));
  socket.addEventListener('message', ({ data }) => {
    got.push(JSON.parse(String(data)) as Message);
    if (got.length === sent.length) resolve(got);
  });
  for (const text of sent) socket.send(text);
  return promise;
}

test('hundreds of messages through another copy, small ones and large ones, arrive whole and in order', async () => {
  const { other } = await startPair({ routes: echoRoutes });
  const socket = await open(other, '/maintenance/echo');
  const sent = Array.from({ length: 500 }, (_, index) => `${index}:`.padEnd(index % 50 === 0 ? 70_000 : 20, 'x'));
  expect(await exchange(socket, sent)).toEqual(sent.map((echo) => ({ by: 'holder', echo })));
});

test('twenty at once', async () => {
  const { other } = await startPair({ routes: echoRoutes });
  const rounds = Array.from({ length: 20 }, async (_, index) => {
    const socket = await open(other, '/maintenance/echo');
    return exchange(socket, [`a${index}`, `b${index}`]);
  });
  const answers = await Promise.all(rounds);
  expect(answers.flat().every(({ by }) => by === 'holder')).toBe(true);
  expect(answers.map((messages) => messages.map(({ echo }) => echo))).toEqual(
    Array.from({ length: 20 }, (_, index) => [`a${index}`, `b${index}`]),
  );
});

test('the plugin for WebSockets may be registered before the proxy', async () => {
  const { other } = await startPair({ before: echoRoutes });
  expect(await exchange(await open(other, '/maintenance/echo'), ['x'])).toEqual([{ by: 'holder', echo: 'x' }]);
});

test('the code of a close goes through', async () => {
  const { other } = await startPair({
    routes: (app) => {
      app.register(websocket);
      app.register(async (child) => {
        child.get('/maintenance/bye', { websocket: true }, (socket) => socket.close(4_001, 'bye'));
      });
    },
  });
  const socket = new WebSocket(`${origin(other).replace('http', 'ws')}/maintenance/bye`);
  const [event] = (await once(socket, 'close')) as [CloseEvent];
  expect([event.code, event.reason]).toEqual([4_001, 'bye']);
});

describe.each(['/guarded', '/required'])('a guarded route that is under no prefix: %s', (path) => {
  test('is open on the holder', async () => {
    const { holder } = await startPair({ routes: echoRoutes });
    expect(await exchange(await open(holder, path), ['x'])).toEqual([{ by: 'holder', echo: 'x' }]);
  });

  test('is answered elsewhere with one whole 503, and the connection ends', async () => {
    const { other } = await startPair({ routes: echoRoutes });
    const answer = await rawExchange(origin(other), upgradeLines(path));
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(answer).toMatch(/retry-after: [1-9]/i);
    expect(answer).toMatch(/"reason":"not-held","role":"maintenance"\}$/);
  });
});

test('a guarded route under a prefix is reached through another copy', async () => {
  const { other } = await startPair({ routes: echoRoutes });
  expect(await exchange(await open(other, '/maintenance/guarded'), ['x'])).toEqual([{ by: 'holder', echo: 'x' }]);
});
