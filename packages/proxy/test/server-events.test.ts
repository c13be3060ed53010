import { createServer, type Server } from 'node:http';
import { PassThrough } from 'node:stream';
import { interceptEvents } from '@leasehold/proxy/adapter';
import { expect, test } from 'vitest';

/** What the handlers of `interceptEvents` saw, and what came to the listeners of the server. */
function watched(takes: boolean): { server: Server; release: () => void; seen: string[]; came: string[] } {
  const server = createServer();
  const seen: string[] = [];
  const came: string[] = [];
  const see = (what: string) => (): boolean => {
    seen.push(what);
    return takes;
  };
  const release = interceptEvents(server, { upgrade: see('upgrade'), request: see('request') });
  for (const name of ['upgrade', 'request', 'other']) server.on(name, () => came.push(name));
  return { server, release, seen, came };
}

function emitAll(server: Server): void {
  server.emit('upgrade', {}, new PassThrough(), Buffer.alloc(0));
  server.emit('request', {}, {});
  server.emit('other');
}

test('what a handler takes comes to nobody else', () => {
  const { server, seen, came } = watched(true);
  emitAll(server);
  expect([seen, came]).toEqual([['upgrade', 'request'], ['other']]);
});

test('what it leaves comes to the listeners, after it', () => {
  const { server, seen, came } = watched(false);
  emitAll(server);
  expect([seen, came]).toEqual([
    ['upgrade', 'request'],
    ['upgrade', 'request', 'other'],
  ]);
});

test('it adds no listener, and leaves no trace when it is released', () => {
  const server = createServer();
  const emit = server.emit;
  const release = interceptEvents(server, { upgrade: () => true, request: () => true });
  expect([server.listenerCount('upgrade'), server.listenerCount('request')]).toEqual([0, 0]);
  release();
  expect(server.emit).toBe(emit);
});

test('released under another wrapper, it lets everything through', () => {
  const { server, release, came } = watched(true);
  const releaseOuter = interceptEvents(server, { upgrade: () => false, request: () => false });
  emitAll(server);
  expect(came).toEqual(['other']);
  release();
  emitAll(server);
  expect(came).toEqual(['other', 'upgrade', 'request', 'other']);
  releaseOuter();
});
