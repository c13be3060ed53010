import cors from '@fastify/cors';
import { isLeaseholdError, type LeaseholdError } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { roleHolderProxy, roleLeasePlugin } from '@leasehold/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { notHeldFields } from './support/not-held.ts';

type Routes = (app: FastifyInstance) => unknown;

interface Parts {
  /** Before `roleLeasePlugin`. */
  readonly before?: Routes;
  readonly after?: Routes;
}

/** Two copies, not listening: the first holds `maintenance`, the second does not. */
async function copies({ before, after }: Parts): Promise<[holder: FastifyInstance, other: FastifyInstance]> {
  const database = new MemoryDatabase();
  const make = async (): Promise<FastifyInstance> => {
    const app = Fastify();
    onTestFinished(() => app.close());
    before?.(app);
    app.register(roleLeasePlugin, { store: memoryStore({ database }), leaseDuration: '2s', roles: ['maintenance'] });
    after?.(app);
    await app.ready();
    return app;
  };
  return [await make(), await make()];
}

/** The statuses of the holder and of the other copy. */
async function statuses(parts: Parts, url: string, method: 'GET' | 'HEAD' | 'POST' | 'OPTIONS' = 'GET'): Promise<number[]> {
  const answers = (await copies(parts)).map((app) => app.inject({ method, url }));
  return (await Promise.all(answers)).map(({ statusCode }) => statusCode);
}

const GUARDED = { config: { role: 'maintenance' } };
const run = async (): Promise<string> => 'ran';

async function thrownBy(work: Promise<unknown>): Promise<LeaseholdError> {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!isLeaseholdError(thrown)) throw new Error(`Not a LeaseholdError: ${String(thrown)}`);
  return thrown;
}

test('the answer is that of the other frameworks', async () => {
  const [, other] = await copies({ after: (app) => app.get('/jobs', GUARDED, run) });
  const answer = await other.inject('/jobs');
  const { date: _, connection: __, ...headers } = answer.headers;
  expect(headers).toEqual(notHeldFields(answer.body));
  expect([answer.statusCode, answer.json()]).toEqual([
    503,
    {
      title: 'Service Unavailable',
      status: 503,
      detail:
        'This instance does not hold the role, and only its holder may run this. Nothing was executed; the request can be sent again.',
      reason: 'not-held',
      role: 'maintenance',
    },
  ]);
});

describe('a route with config.role runs on the holder alone', () => {
  test.each<[string, Parts, string]>([
    ['on the root, added after the plugin', { after: (app) => app.get('/jobs', GUARDED, run) }, '/jobs'],
    ['on the root, added before the plugin', { before: (app) => app.get('/jobs', GUARDED, run) }, '/jobs'],
    [
      'in an encapsulated plugin after it',
      { after: (app) => app.register(async (child) => child.get('/jobs', GUARDED, run), { prefix: '/admin' }) },
      '/admin/jobs',
    ],
    [
      'in an encapsulated plugin before it',
      { before: (app) => app.register(async (child) => child.get('/jobs', GUARDED, run), { prefix: '/admin' }) },
      '/admin/jobs',
    ],
    [
      'in a plugin in a plugin',
      {
        before: (app) =>
          app.register(async (child) => void child.register(async (inner) => inner.get('/jobs', GUARDED, run)), { prefix: '/a' }),
      },
      '/a/jobs',
    ],
    [
      'at the prefix itself',
      { after: (app) => app.register(async (child) => child.get('/', GUARDED, run), { prefix: '/admin' }) },
      '/admin',
    ],
    [
      'at the prefix with a slash',
      { after: (app) => app.register(async (child) => child.get('/', GUARDED, run), { prefix: '/admin' }) },
      '/admin/',
    ],
    ['with a parameter', { after: (app) => app.get('/jobs/:id', GUARDED, run) }, '/jobs/7?x=1'],
  ])('%s', async (_, parts, url) => {
    expect(await statuses(parts, url)).toEqual([200, 503]);
  });

  test('its HEAD too, which Fastify adds', async () => {
    const parts: Parts = { after: (app) => app.get('/jobs', GUARDED, run) };
    expect(await statuses(parts, '/jobs', 'HEAD')).toEqual([200, 503]);
    const [, other] = await copies(parts);
    const [head, get] = [await other.inject({ method: 'HEAD', url: '/jobs' }), await other.inject('/jobs')];
    expect(head.body).toBe('');
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
  });

  test('and its body is neither parsed nor validated elsewhere', async () => {
    const schema = { body: { type: 'object', required: ['id'] } };
    const [holder, other] = await copies({ after: (app) => app.post('/jobs', { ...GUARDED, schema }, run) });
    const broken = { method: 'POST', url: '/jobs', headers: { 'content-type': 'application/json' }, payload: '{' } as const;
    expect([(await holder.inject(broken)).statusCode, (await other.inject(broken)).statusCode]).toEqual([400, 503]);
  });

  test('and after a change of holder, on the new one', async () => {
    const [holder, other] = await copies({ after: (app) => app.get('/jobs', GUARDED, run) });
    await holder.roleLeases.get('maintenance').stepDown();
    await expect.poll(() => other.roleLeases.get('maintenance').isHeld).toBe(true);
    expect([(await holder.inject('/jobs')).statusCode, (await other.inject('/jobs')).statusCode]).toEqual([503, 200]);
  });
});

describe('elsewhere', () => {
  test('routes without it run everywhere', async () => {
    const after: Routes = (app) => {
      app.get('/jobs', GUARDED, run);
      app.get('/free', { config: {} }, run);
    };
    expect(await statuses({ after }, '/free')).toEqual([200, 200]);
  });

  test.each<[string, Routes]>([
    ["Fastify's own", () => {}],
    ['a handler of the application', (app) => app.setNotFoundHandler((_, reply) => void reply.code(404).send('none'))],
  ])('what is not found is not found: %s', async (_, after) => {
    expect(await statuses({ after }, '/nothing-here')).toEqual([404, 404]);
  });

  test('a path that cannot be decoded is refused as without the plugin', async () => {
    expect(await statuses({ after: (app) => app.get('/jobs/:id', GUARDED, run) }, '/jobs/%E0%A4%A')).toEqual([400, 400]);
  });

  test('what is not found under the prefix of a plugin that is guarded, its handler answers', async () => {
    const after: Routes = (app) =>
      app.register(
        async (child) => {
          child.setNotFoundHandler({ preHandler: child.requireRole('maintenance') }, (_, reply) => void reply.code(404).send());
          child.get('/jobs', GUARDED, run);
        },
        { prefix: '/admin' },
      );
    expect(await statuses({ after }, '/admin/nothing-here')).toEqual([404, 503]);
    expect(await statuses({ after }, '/nothing-here')).toEqual([404, 404]);
  });

  test('hooks and handlers of the route do not run, those of the application that come first do', async () => {
    const ran: string[] = [];
    const note = (what: string) => async (): Promise<void> => void ran.push(what);
    const after: Routes = (app) => {
      app.addHook('onRequest', note('onRequest'));
      app.addHook('preValidation', note('preValidation'));
      app.get('/jobs', { ...GUARDED, preHandler: note('preHandler') }, run);
    };
    const [, other] = await copies({ after });
    await other.inject('/jobs');
    expect(ran).toEqual(['onRequest']);
  });
});

describe('with CORS', () => {
  const browser = { origin: 'https://shop.test', 'access-control-request-method': 'GET' };
  const addCors: Routes = (app) => app.register(cors, { origin: 'https://shop.test' });
  const route: Routes = (app) => app.get('/jobs', GUARDED, run);

  test.each<[string, Parts]>([
    ['before', { before: addCors, after: route }],
    ['after', { after: (app) => [addCors(app), route(app)] }],
  ])('that is registered %s the plugin, a browser may read a refusal', async (_, parts) => {
    const [, other] = await copies(parts);
    const answer = await other.inject({ url: '/jobs', headers: browser });
    expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([503, 'https://shop.test']);
    const preflight = await other.inject({ method: 'OPTIONS', url: '/jobs', headers: browser });
    expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([204, 'https://shop.test']);
  });
});

test('a request that a proxy forwards is not refused: the option guards, the proxy forwards', async () => {
  const database = new MemoryDatabase();
  const start = async (label: string): Promise<FastifyInstance> => {
    const app = Fastify({ forceCloseConnections: true });
    onTestFinished(() => app.close());
    const store = memoryStore({ database });
    app.register(roleLeasePlugin, { store, leaseDuration: '2s', roles: ['maintenance'], instance: { label } });
    app.register(roleHolderProxy, { role: 'maintenance', prefixes: ['/maintenance'] });
    for (const url of ['/maintenance/jobs', '/elsewhere/jobs']) app.get(url, GUARDED, async () => label);
    await app.listen({ host: '127.0.0.1', port: 0 });
    return app;
  };
  const holder = await start('holder');
  const other = await start('other');
  await expect.poll(() => other.roleLeases.get('maintenance').currentHolderAddress).toBe(holder.listeningOrigin);
  expect(await (await fetch(`${other.listeningOrigin}/maintenance/jobs`)).text()).toBe('holder');
  expect((await fetch(`${other.listeningOrigin}/elsewhere/jobs`)).status).toBe(503);
});

describe('a role that is not registered', () => {
  const misspelt = { config: { role: 'maintenanc' } };

  test('app.ready() rejects, and names the route', async () => {
    const after: Routes = (app) => app.register(async (child) => child.get('/jobs', misspelt, run), { prefix: '/admin' });
    const error = await thrownBy(copies({ after }));
    expect(error.code).toBe('LEASEHOLD_UNKNOWN_ROLE');
    expect(error.message).toMatch(/route GET \/admin\/jobs is "maintenanc", which is not registered/);
  });

  test('nothing competes then', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    await app.register(roleLeasePlugin, { store: memoryStore(), roles: ['maintenance'] });
    app.route({ method: ['PUT', 'POST'], url: '/jobs', ...misspelt, handler: run });
    expect((await thrownBy(Promise.resolve(app.ready()))).message).toContain('PUT, POST /jobs');
    expect(app.roleLeases.get('maintenance').isHeld).toBe(false);
  });

  test('of a route that was there before the plugin: its first request fails, and says why', async () => {
    const [holder] = await copies({ before: (app) => app.get('/jobs', misspelt, run) });
    const answer = await holder.inject('/jobs');
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([500, 'LEASEHOLD_UNKNOWN_ROLE']);
    expect(answer.json<{ message: string }>().message).toContain('route GET /jobs');
  });

  test('a role that is added before app.ready() is registered', async () => {
    const after: Routes = (app) => {
      app.get('/jobs', { config: { role: 'reports' } }, run);
      app.register(async (child) => void child.leasehold.role('reports'));
    };
    expect(await statuses({ after }, '/jobs')).toEqual([200, 503]);
  });
});

describe('app.requireRole', () => {
  test.each(['onRequest', 'preValidation', 'preHandler'] as const)('as %s: 503 with the same answer', async (hook) => {
    const after: Routes = (app) =>
      void app.register(async (child) => {
        child.get('/jobs', { [hook]: child.requireRole('maintenance') }, run);
        child.get('/guarded', GUARDED, run);
      });
    const [holder, other] = await copies({ after });
    expect((await holder.inject('/jobs')).body).toBe('ran');
    const [answer, expected] = [await other.inject('/jobs'), await other.inject('/guarded')];
    expect([answer.statusCode, answer.json()]).toEqual([503, expected.json()]);
    expect({ ...answer.headers, date: '' }).toEqual({ ...expected.headers, date: '' });
  });

  test('as a hook of a plugin, for all its routes', async () => {
    const after: Routes = (app) =>
      void app.register(async (child) => {
        child.addHook('onRequest', child.requireRole('maintenance'));
        child.get('/jobs', run);
      });
    expect(await statuses({ after }, '/jobs')).toEqual([200, 503]);
  });

  test('of a role that is not registered throws at once', async () => {
    const [app] = await copies({});
    expect(() => app.requireRole('maintenanc')).toThrow(expect.objectContaining({ code: 'LEASEHOLD_UNKNOWN_ROLE' }));
  });
});
