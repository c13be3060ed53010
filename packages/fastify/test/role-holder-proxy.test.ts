import { setTimeout as sleep } from 'node:timers/promises';
import cors from '@fastify/cors';
import { isLeaseholdError, type LeaseholdErrorCode } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { roleHolderProxy, type RoleHolderProxyPluginOptions, roleLeasePlugin } from '@leasehold/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createCopy, origin, startPair, whoRoutes } from './support/apps.ts';
import { openStream, type OpenStream } from '../../../test/support/raw.ts';

async function reasonOf(answer: Response): Promise<unknown> {
  return ((await answer.json()) as { reason?: unknown }).reason;
}

describe('where a request runs', () => {
  test('under a prefix: on the holder, whichever copy was asked', async () => {
    const { holder, other } = await startPair({ routes: whoRoutes });
    for (const app of [holder, other]) {
      const answer = await fetch(`${origin(app)}/maintenance/who`);
      expect([answer.status, await answer.json()]).toEqual([200, { by: 'holder' }]);
    }
  });

  test('elsewhere: on the copy that was asked', async () => {
    const { other } = await startPair({ routes: whoRoutes });
    expect(await (await fetch(`${origin(other)}/who`)).json()).toEqual({ by: 'other' });
  });

  test('an unknown route under a prefix is unknown to the holder, and not to this copy', async () => {
    const notFound = (app: FastifyInstance): void => {
      app.setNotFoundHandler(async (_request, reply) => reply.code(404).send({ unknownTo: app.leasehold.instance.label }));
    };
    const { other } = await startPair({ routes: notFound });
    const answer = await fetch(`${origin(other)}/maintenance/nothing-here`, { method: 'POST', body: 'x' });
    expect([answer.status, await answer.json()]).toEqual([404, { unknownTo: 'holder' }]);
  });

  test('a method that the route does not have goes to the holder too', async () => {
    const { other } = await startPair({ routes: whoRoutes });
    const answer = await fetch(`${origin(other)}/maintenance/who`, { method: 'DELETE' });
    expect(((await answer.json()) as { message: string }).message).toBe('Route DELETE:/maintenance/who not found');
    expect(answer.headers.get('via') ?? '').toBe('');
  });

  test('a body is neither parsed nor validated nor limited here', async () => {
    const { other } = await startPair({
      fastify: { bodyLimit: 100 },
      routes: (app) => {
        app.removeAllContentTypeParsers();
        app.addContentTypeParser('*', (_request, payload, done) => {
          let bytes = 0;
          payload.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => done(null, bytes));
        });
        app.post('/maintenance/import', { bodyLimit: 1_000_000 }, async (request) => ({
          by: app.leasehold.instance.label,
          bytes: request.body,
        }));
      },
    });
    const body = Buffer.alloc(300_000, 'x');
    const answer = await fetch(`${origin(other)}/maintenance/import`, { method: 'POST', body });
    expect(await answer.json()).toEqual({ by: 'holder', bytes: 300_000 });
  });

  test('hooks, authentication and handlers of the application do not run here', async () => {
    const ran: string[] = [];
    const { other } = await startPair({
      routes: (app) => {
        const note = (what: string) => async () => void ran.push(`${app.leasehold.instance.label} ${what}`);
        app.addHook('onRequest', note('onRequest'));
        app.addHook('preParsing', note('preParsing'));
        app.addHook('preHandler', note('preHandler'));
        app.get('/maintenance/run', { onRequest: note('route') }, note('handler'));
      },
    });
    await fetch(`${origin(other)}/maintenance/run`);
    expect(ran).toEqual(['holder onRequest', 'holder route', 'holder preParsing', 'holder preHandler', 'holder handler']);
  });

  test('routes registered before the proxy are covered too', async () => {
    const { other } = await startPair({ before: whoRoutes });
    expect(await (await fetch(`${origin(other)}/maintenance/who`)).json()).toEqual({ by: 'holder' });
  });

  test('routes of encapsulated plugins are covered too', async () => {
    const { other } = await startPair({
      routes: (app) =>
        void app.register(async (child) => void child.get('/who', async () => app.leasehold.instance.label), {
          prefix: '/maintenance',
        }),
    });
    expect(await (await fetch(`${origin(other)}/maintenance/who`)).text()).toBe('holder');
  });

  test('the request target arrives as the client sent it, though rewriteUrl changes it', async () => {
    const { other } = await startPair({
      fastify: { rewriteUrl: (request) => (request.url ?? '').replace('/maintenance/old', '/maintenance/new') },
      routes: (app) => void app.get('/maintenance/new', async (request) => [app.leasehold.instance.label, request.originalUrl]),
    });
    const answer = await fetch(`${origin(other)}/maintenance/old?a=%2F&&b`);
    expect(await answer.json()).toEqual(['holder', '/maintenance/old?a=%2F&&b']);
  });
});

describe('the answer', () => {
  test('carries the fields of earlier hooks: CORS', async () => {
    const { other } = await startPair({
      before: (app) => void app.register(cors, { origin: ['https://shop.test'], credentials: true }),
      routes: (app) =>
        void app.get('/maintenance/x', async (_request, reply) => {
          reply.header('vary', 'Accept');
          return 'ok';
        }),
    });
    const answer = await fetch(`${origin(other)}/maintenance/x`, { headers: { origin: 'https://shop.test' } });
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.test');
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
    expect(answer.headers.get('vary')).toMatch(/Origin/i);
    expect(answer.headers.get('vary')).toMatch(/Accept/i);
  });

  test("the holder's value wins, and Set-Cookie adds up", async () => {
    const { other } = await startPair({
      before: (app) =>
        void app.addHook('onRequest', async (_request, reply) => {
          const { label } = app.leasehold.instance;
          reply.header('x-seen-by', label).header('set-cookie', `${label}=1`);
        }),
      routes: (app) => void app.get('/maintenance/x', async () => 'ok'),
    });
    const answer = await fetch(`${origin(other)}/maintenance/x`);
    expect(answer.headers.get('x-seen-by')).toBe('holder');
    expect(answer.headers.getSetCookie().toSorted()).toEqual(['holder=1', 'other=1']);
  });

  test('a refusal carries them too, so that a browser may read it', async () => {
    const { other, holder } = await startPair({
      before: (app) => void app.register(cors, { origin: 'https://shop.test' }),
    });
    await new Promise((resolve) => holder.server.close(resolve).closeAllConnections());
    const answer = await fetch(`${origin(other)}/maintenance/x`, { headers: { origin: 'https://shop.test' } });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.test');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await reasonOf(answer)).toBe('unreachable');
  });

  test('is logged once, with its status', async () => {
    const lines: { msg: string; res?: { statusCode: number } }[] = [];
    const { holder, database } = await startPair();
    const app = createCopy({
      database,
      label: 'logged',
      fastify: { logger: { stream: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) } } },
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    await expect.poll(() => app.roleLeases.get('maintenance').currentHolderAddress).toBe(origin(holder));
    await fetch(`${origin(app)}/maintenance/nothing`);
    await expect.poll(() => lines.filter(({ msg }) => msg === 'request completed')).toHaveLength(1);
    expect(lines.find(({ msg }) => msg === 'request completed')?.res?.statusCode).toBe(404);
  });

  test('the log says what an attempt to forward failed of', async () => {
    const lines: { msg: string; err?: { message: string } }[] = [];
    const { holder, database } = await startPair();
    const app = createCopy({
      database,
      label: 'logged',
      fastify: { logger: { stream: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) } } },
    });
    await app.ready();
    await expect.poll(() => app.roleLeases.get('maintenance').currentHolderAddress).toBe(origin(holder));
    await new Promise((resolve) => holder.server.close(resolve).closeAllConnections());
    expect((await app.inject('/maintenance/x')).statusCode).toBe(503);
    const failure = lines.find(({ msg }) => msg === 'a request could not be forwarded to the holder');
    expect(failure?.err?.message).toContain('ECONNREFUSED');
  });

  test('behind inject: local and refused ones work as over a socket', async () => {
    const database = new MemoryDatabase();
    const holder = createCopy({ database, label: 'holder', routes: whoRoutes });
    await holder.ready();
    const other = createCopy({ database, label: 'other', routes: whoRoutes });
    await other.ready();
    expect((await holder.inject('/maintenance/who')).json()).toEqual({ by: 'holder' });
    const refused = await other.inject('/maintenance/who');
    expect([refused.statusCode, refused.json<{ reason: string }>().reason]).toEqual([503, 'no-address']);
  });

  test('behind inject: forwarded ones too', async () => {
    const { other } = await startPair({ routes: whoRoutes });
    expect((await other.inject('/maintenance/who')).json()).toEqual({ by: 'holder' });
  });
});

describe('one hop', () => {
  test('two copies that take each other for the holder refuse', async () => {
    const { other } = await startPair({ routes: whoRoutes });
    const answer = await fetch(`${origin(other)}/maintenance/who`, { headers: { 'leasehold-hop': 'maintenance;x;1' } });
    expect([answer.status, await reasonOf(answer)]).toEqual([503, 'failover']);
  });
});

/** Events that say who sent them, until the client leaves. */
function eventRoute(app: FastifyInstance): void {
  app.get('/maintenance/events', (request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => reply.raw.write(`data: ${app.leasehold.instance.label}\n\n`), 20);
    request.raw.on('close', () => clearInterval(timer));
  });
}

async function streamThroughOther(other: FastifyInstance, accept?: string): Promise<OpenStream> {
  const stream = await openStream(`${origin(other)}/maintenance/events`, accept);
  await expect.poll(() => stream.text()).toContain('data: holder\n\ndata: holder\n\n');
  return stream;
}

describe('event streams', () => {
  test('come through another copy as they are sent', async () => {
    const { other } = await startPair({ routes: eventRoute });
    const stream = await streamThroughOther(other);
    expect(stream.status).toBe(200);
    expect(stream.text()).not.toContain('other');
  });

  test('the head comes before the first event', async () => {
    const { other } = await startPair({
      routes: (app) =>
        void app.get('/maintenance/quiet', (_request, reply) => {
          reply.hijack();
          reply.raw.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        }),
    });
    expect((await openStream(`${origin(other)}/maintenance/quiet`)).status).toBe(200);
  });

  test('are broken off when the holder dies, not ended as if complete', async () => {
    const { holder, other } = await startPair({ routes: eventRoute });
    const stream = await streamThroughOther(other);
    holder.server.closeAllConnections();
    expect(await stream.ended).toBe('broken');
  });

  test.each([
    ['ask for one', 'text/event-stream'],
    ['ask for anything', '*/*'],
  ])('of clients that %s do not keep the copy that they run through from closing', async (_, accept) => {
    const { other } = await startPair({ routes: eventRoute, fastify: { forceCloseConnections: 'idle' } });
    const stream = await streamThroughOther(other, accept);
    await other.close();
    expect(await stream.ended).toBe('broken');
  });
});

describe('closing', () => {
  test('a request that is being forwarded ends well, of a client that would take an event stream too', async () => {
    let begun = false;
    const { other } = await startPair({
      fastify: { forceCloseConnections: 'idle' },
      routes: (app) =>
        void app.get('/maintenance/slow', async (_request, reply) => {
          begun = true;
          await sleep(100);
          return reply.send('done');
        }),
    });
    const headers = { connection: 'close', accept: 'application/json, text/event-stream' };
    const answer = fetch(`${origin(other)}/maintenance/slow`, { headers });
    await expect.poll(() => begun).toBe(true);
    await other.close();
    expect(await (await answer).text()).toBe('done');
  });
});

describe('options that cannot be', () => {
  async function codeOf(options: unknown, lease = true): Promise<LeaseholdErrorCode | undefined> {
    const app = Fastify();
    onTestFinished(() => app.close());
    if (lease) app.register(roleLeasePlugin, { store: memoryStore(), roles: ['maintenance'] });
    app.register(roleHolderProxy, options as RoleHolderProxyPluginOptions);
    const error = await app.ready().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return isLeaseholdError(error) ? error.code : undefined;
  }

  test.each<[LeaseholdErrorCode, unknown]>([
    ['LEASEHOLD_INVALID_PREFIX', { role: 'maintenance', prefixes: ['maintenance'] }],
    ['LEASEHOLD_INVALID_PREFIX', { role: 'maintenance', prefixes: [] }],
    ['LEASEHOLD_INVALID_OPTION', { role: '', prefixes: ['/maintenance'] }],
    ['LEASEHOLD_INVALID_DURATION', { role: 'maintenance', prefixes: ['/maintenance'], headTimeout: 'soon' }],
  ])('%s from ready(): %o', async (code, options) => {
    expect(await codeOf(options)).toBe(code);
  });

  test('no leasehold: the message says what to register first', async () => {
    expect(await codeOf({ role: 'maintenance', prefixes: ['/maintenance'] }, false)).toBe('LEASEHOLD_INVALID_OPTION');
    const app = Fastify();
    onTestFinished(() => app.close());
    app.register(roleHolderProxy, { role: 'maintenance', prefixes: ['/maintenance'] });
    await expect(app.ready()).rejects.toThrow(/register roleLeasePlugin before roleHolderProxy/);
  });

  test('a role that is not registered: everything runs here, and one line says so', async () => {
    const lines: string[] = [];
    const app = Fastify({ logger: { stream: { write: (line) => void lines.push(line) } } });
    onTestFinished(() => app.close());
    app.register(roleLeasePlugin, { store: memoryStore() });
    app.register(roleHolderProxy, { role: 'maintenance', prefixes: ['/maintenance'] });
    app.get('/maintenance/who', async () => 'here');
    expect((await app.inject('/maintenance/who')).body).toBe('here');
    expect(lines.filter((line) => line.includes('not registered'))).toHaveLength(1);
  });
});

test('two proxies for two roles', async () => {
  const database = new MemoryDatabase();
  const make = (label: string, role: string): FastifyInstance => {
    const app = Fastify({ forceCloseConnections: true });
    onTestFinished(() => app.close());
    app.register(roleLeasePlugin, {
      store: memoryStore({ database }),
      instance: { label },
      leaseDuration: '2s',
      roles: ['a', 'b'],
    });
    for (const name of ['a', 'b']) app.register(roleHolderProxy, { role: name, prefixes: [`/${name}`] });
    for (const name of ['a', 'b']) app.get(`/${name}`, async () => app.leasehold.instance.label);
    app.addHook('onListen', async () => void (await app.leasehold.get(role).stepDown({ standAside: 'until-told' })));
    return app;
  };
  const [first, second] = [make('first', 'b'), make('second', 'a')];
  await first.listen({ host: '127.0.0.1', port: 0 });
  await second.listen({ host: '127.0.0.1', port: 0 });
  await expect.poll(() => second.roleLeases.heldRoles()).toEqual(['b']);
  await expect.poll(() => first.leasehold.get('b').currentHolderAddress).toBe(origin(second));
  await expect.poll(() => second.leasehold.get('a').currentHolderAddress).toBe(origin(first));
  for (const app of [first, second]) {
    expect(await (await fetch(`${origin(app)}/a`)).text()).toBe('first');
    expect(await (await fetch(`${origin(app)}/b`)).text()).toBe('second');
  }
});
