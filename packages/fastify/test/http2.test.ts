import http2, { type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import cors from '@fastify/cors';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { roleHolderProxy, roleLeasePlugin } from '@leasehold/fastify';
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAuthority } from '../../../test/support/http/certificates.ts';
import { origin } from './support/apps.ts';

const authority = createAuthority();
const tls = authority.issue(['IP:127.0.0.1']);

interface Kind {
  readonly name: string;
  /** Of the copy that clients talk to. */
  readonly other: object;
  /** Of the holder, to which the other copy forwards by HTTP/1.1. */
  readonly holder: object;
}

const secure = { http2: true, https: { ...tls, allowHTTP1: true } };

const kinds: readonly Kind[] = [
  { name: 'without TLS', other: { http2: true }, holder: {} },
  { name: 'over TLS, both versions', other: secure, holder: secure },
];

function routes(app: FastifyInstance): void {
  const { label } = app.leasehold.instance;
  for (const url of ['/maintenance/who', '/who']) app.all(url, async (request) => ({ by: label, body: request.body ?? null }));
  app.get('/guarded', { config: { role: 'maintenance' } }, async () => ({ by: label }));
  app.get('/maintenance/events', (request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => reply.raw.write(`data: ${label}\n\n`), 20);
    request.raw.on('close', () => clearInterval(timer));
  });
}

async function start(database: MemoryDatabase, label: string, fastify: object): Promise<FastifyInstance> {
  const app = Fastify(fastify as FastifyServerOptions);
  onTestFinished(() => app.close());
  app.register(roleLeasePlugin, {
    store: memoryStore({ database }),
    instance: { label },
    leaseDuration: '2s',
    roles: ['maintenance'],
  });
  app.register(cors, { origin: 'https://shop.test' });
  app.register(roleHolderProxy, { role: 'maintenance', prefixes: ['/maintenance'], tls: { ca: authority.cert } });
  app.register(async (child) => routes(child));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app;
}

async function startPair(kind: Kind): Promise<{ holder: FastifyInstance; other: FastifyInstance; session: ClientHttp2Session }> {
  const database = new MemoryDatabase();
  const holder = await start(database, 'holder', kind.holder);
  const other = await start(database, 'other', kind.other);
  await expect.poll(() => other.roleLeases.get('maintenance').currentHolderAddress).toBe(origin(holder));
  const session = http2.connect(origin(other), { ca: authority.cert }).on('error', () => {});
  onTestFinished(() => session.destroy());
  return { holder, other, session };
}

interface Answer {
  readonly fields: IncomingHttpHeaders & { readonly ':status'?: number };
  readonly json: unknown;
}

async function ask(session: ClientHttp2Session, path: string, body?: string): Promise<Answer> {
  const method = body === undefined ? 'GET' : 'POST';
  const fields = { ':path': path, ':method': method, origin: 'https://shop.test', 'content-type': 'application/json' };
  const stream = session.request(fields, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const { promise, resolve } = Promise.withResolvers<Answer>();
  let answer: IncomingHttpHeaders = {};
  let text = '';
  stream.on('response', (head) => (answer = head));
  stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  stream.on('end', () => resolve({ fields: answer, json: JSON.parse(text) }));
  return promise;
}

describe.each(kinds)('HTTP/2 $name', (kind) => {
  test('under a prefix on the holder, elsewhere on the copy that was asked', async () => {
    const { session } = await startPair(kind);
    expect((await ask(session, '/maintenance/who', '{"a":1}')).json).toEqual({ by: 'holder', body: { a: 1 } });
    expect((await ask(session, '/who', '{"b":2}')).json).toEqual({ by: 'other', body: { b: 2 } });
  });

  test('fields of CORS are on a forwarded answer, once', async () => {
    const { session } = await startPair(kind);
    const { fields } = await ask(session, '/maintenance/who');
    expect([fields[':status'], fields['access-control-allow-origin']]).toEqual([200, 'https://shop.test']);
  });

  test('a refusal of the proxy, and of a guard, is a problem that a browser may read', async () => {
    const { holder, session } = await startPair(kind);
    const guarded = await ask(session, '/guarded');
    holder.server.close();
    if ('closeAllConnections' in holder.server) holder.server.closeAllConnections();
    await expect.poll(async () => (await ask(session, '/maintenance/who')).fields[':status']).toBe(503);
    const refused = await ask(session, '/maintenance/who');
    for (const [{ fields, json }, reason] of [
      [guarded, 'not-held'],
      [refused, 'unreachable'],
    ] as const) {
      expect(fields).toMatchObject({
        ':status': 503,
        'content-type': 'application/problem+json',
        'access-control-allow-origin': 'https://shop.test',
      });
      expect(Number(fields['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(json).toMatchObject({ reason, role: 'maintenance' });
    }
  });

  test('an event stream comes through, and does not keep the copy from closing', async () => {
    const { other, session } = await startPair(kind);
    const stream = session.request({ ':path': '/maintenance/events' });
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const closed = new Promise<void>((resolve) => stream.on('error', () => {}).on('close', resolve));
    await expect.poll(() => text).toContain('data: holder\n\ndata: holder\n\n');
    await other.close();
    await closed;
    expect(stream.rstCode).not.toBe(http2.constants.NGHTTP2_NO_ERROR);
  });
});
