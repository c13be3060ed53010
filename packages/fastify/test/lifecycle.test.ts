import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { createLeasehold, type HeartbeatMessage, isLeaseholdError, type LeaseStore } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { roleLeasePlugin } from '@leasehold/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createCopy, origin, startPair } from './support/apps.ts';

/** A store of which nothing is ever heard. */
function silentStore(): LeaseStore {
  const silence = (): Promise<never> => new Promise(() => {});
  return { ...memoryStore(), open: silence, heartbeat: silence, release: silence };
}

function failingStore(): LeaseStore {
  return { ...memoryStore(), open: () => Promise.reject(new Error('down')) };
}

describe('start', () => {
  test('a store that is down: ready() rejects as `startup` says, and close() works', async () => {
    const app = Fastify();
    app.register(roleLeasePlugin, { store: failingStore(), roles: ['maintenance'], startup: 'fail' });
    await expect(app.ready()).rejects.toThrow('down');
    await app.close();
    expect(app.roleLeases.get('maintenance').isHeld).toBe(false);
  });

  test('a store that is silent: an error that says so comes before Fastify gives the hook up', async () => {
    const app = Fastify({ pluginTimeout: 300 });
    app.register(roleLeasePlugin, { store: silentStore(), roles: ['maintenance'], releaseTimeout: 50 });
    const error = await app.ready().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(isLeaseholdError(error, 'LEASEHOLD_STORE_UNAVAILABLE')).toBe(true);
    expect(String(error)).toMatch(/pluginTimeout \(300 ms\).*startup: 'background'/);
    expect(app.roleLeases.get('maintenance').state).toBe('stopped');
    await app.close();
  });

  test.each([
    ['cannot be opened', { open: () => Promise.reject(new Error('the port is closed.')) }],
    ['opens and does not beat', { heartbeat: () => Promise.reject(new Error('the port is closed.')) }],
  ])('a store that %s: the error says why, and has it as its cause', async (_, broken: Partial<LeaseStore>) => {
    const app = Fastify({ pluginTimeout: 300 });
    const store = { ...memoryStore(), ...broken };
    app.register(roleLeasePlugin, { store, roles: ['maintenance'], releaseTimeout: 50 });
    await expect(app.ready()).rejects.toMatchObject({
      code: 'LEASEHOLD_STORE_UNAVAILABLE',
      message: expect.stringMatching(/^the store has not answered \(the port is closed\), and pluginTimeout \(300 ms\)/),
      cause: new Error('the port is closed.'),
    });
    await app.close();
  });

  test('a database that nobody listens for: the error says so, and no password', async () => {
    const app = Fastify({ pluginTimeout: 500 });
    const connectionString = 'postgres://somebody:hush-hush@127.0.0.1:1/app';
    app.register(roleLeasePlugin, { connectionString, roles: ['maintenance'], releaseTimeout: 50 });
    const error = await app.ready().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(String(error)).toContain('ECONNREFUSED');
    expect(inspect(error, { depth: null })).not.toContain('hush');
    await app.close();
  });

  test('without a limit of Fastify it waits for the store', async () => {
    const app = Fastify({ pluginTimeout: 0 });
    onTestFinished(() => app.close());
    let tries = 0;
    const store = memoryStore();
    const late: LeaseStore = {
      ...store,
      open: (context, call) => (++tries < 3 ? Promise.reject(new Error('down')) : store.open(context, call)),
    };
    app.register(roleLeasePlugin, { store: late, roles: ['maintenance'] });
    await app.ready();
    expect(tries).toBe(3);
    expect(app.roleLeases.get('maintenance').isHeld).toBe(true);
  });

  test("with startup 'background' it serves without the store", async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    app.register(roleLeasePlugin, { store: failingStore(), roles: ['maintenance'], startup: 'background' });
    await app.ready();
    expect(app.roleLeases.get('maintenance').isHeld).toBe(false);
  });
});

describe('close', () => {
  test('before ready()', async () => {
    const app = Fastify();
    app.register(roleLeasePlugin, { store: memoryStore(), roles: ['maintenance'] });
    await expect(app.close()).resolves.toBeUndefined();
    expect(app.roleLeases.get('maintenance').isHeld).toBe(false);
  });

  test('before ready(), with an option that cannot be', async () => {
    const app = Fastify();
    app.register(roleLeasePlugin, { store: memoryStore(), roles: [''] });
    await expect(app.close()).resolves.toBeUndefined();
  });

  test('while it is starting', async () => {
    const app = Fastify();
    app.register(roleLeasePlugin, { store: memoryStore(), roles: ['maintenance'] });
    const ready = app.ready();
    await app.close();
    await ready;
    expect(app.roleLeases.get('maintenance').isHeld).toBe(false);
  });

  test('twice', async () => {
    const app = createCopy();
    await app.ready();
    await Promise.all([app.close(), app.close()]);
    expect(app.roleLeases.get('maintenance').state).toBe('stopped');
  });

  test('after another plugin failed to load', async () => {
    const app = Fastify();
    app.register(roleLeasePlugin, { store: memoryStore(), roles: ['maintenance'] });
    app.register(async () => {
      throw new Error('other');
    });
    await expect(app.ready()).rejects.toThrow('other');
    await app.close();
  });
});

/** What happened, in order. */
interface Traced {
  readonly app: FastifyInstance;
  readonly trace: string[];
  /** Lets the request under the role end. */
  readonly finish: () => void;
}

/** A holder with a request that runs under the role until it is told to end, and then still needs its "pool". */
function tracedHolder(database: MemoryDatabase): Traced {
  const trace: string[] = [];
  const gate = Promise.withResolvers<void>();
  const app = createCopy({
    database,
    label: 'holder',
    fastify: { forceCloseConnections: false },
    routes: (on) => {
      on.get('/maintenance/work', async (_request, reply) => {
        const result = await on.roleLeases.get('maintenance').whileHeld(async (term) => {
          trace.push('work begins');
          term.signal.addEventListener('abort', () => trace.push(`aborted, held: ${on.roleLeases.get('maintenance').isHeld}`));
          await gate.promise;
          trace.push('work ends');
        });
        return reply.header('connection', 'close').send(result);
      });
    },
  });
  return { app, trace, finish: gate.resolve };
}

/** Makes the instance ask, and waits for the answer. */
async function nextHeartbeat(app: FastifyInstance): Promise<void> {
  let answered = false;
  const listen = (message: unknown): void => {
    answered ||= (message as HeartbeatMessage).instance === app.leasehold.instance.id;
  };
  subscribe('leasehold:heartbeat', listen);
  onTestFinished(() => void unsubscribe('leasehold:heartbeat', listen));
  app.leasehold.compete();
  await expect.poll(() => answered).toBe(true);
}

describe('close, of a holder', () => {
  test('the role goes over when the work under it has ended, and not before', async () => {
    const database = new MemoryDatabase();
    const { app, trace, finish } = tracedHolder(database);
    await app.listen({ host: '127.0.0.1', port: 0 });
    const other = createCopy({ database, label: 'other' });
    await other.ready();

    const answer = fetch(`${origin(app)}/maintenance/work`);
    await expect.poll(() => trace).toEqual(['work begins']);
    const closed = app.close().then(() => trace.push('closed'));
    await expect.poll(() => trace).toEqual(['work begins', 'aborted, held: false']);
    await nextHeartbeat(other);
    expect(app.server.listening).toBe(true);
    expect(other.roleLeases.get('maintenance').currentHolder).toBe(app.leasehold.instance.id);

    finish();
    expect((await answer).status).toBe(200);
    await closed;
    expect(trace).toEqual(['work begins', 'aborted, held: false', 'work ends', 'closed']);
    await expect.poll(() => other.roleLeases.get('maintenance').isHeld).toBe(true);
  });

  test('the role goes over at once when nothing runs under it, though a request is still in flight', async () => {
    const gate = Promise.withResolvers<void>();
    let begun = false;
    const { holder, other } = await startPair({
      fastify: { forceCloseConnections: false },
      routes: (app) => {
        app.get('/slow', async (_request, reply) => {
          begun = true;
          await gate.promise;
          return reply.header('connection', 'close').send('done');
        });
      },
    });
    const answer = fetch(`${origin(holder)}/slow`);
    await expect.poll(() => begun).toBe(true);
    const closedAt = performance.now();
    const closed = holder.close();
    await expect.poll(() => other.roleLeases.get('maintenance').isHeld).toBe(true);
    expect(performance.now() - closedAt).toBeLessThan(500);
    gate.resolve();
    expect(await (await answer).text()).toBe('done');
    await closed;
  });

  test("a request that another copy has forwarded here is answered, with Fastify's own way of closing connections", async () => {
    const gate = Promise.withResolvers<string>();
    let begun = false;
    const { holder, other } = await startPair({
      fastify: { forceCloseConnections: 'idle' },
      routes: (app) => {
        app.get('/maintenance/slow', async (_request, reply) => {
          begun = true;
          return reply.header('connection', 'close').send(await gate.promise);
        });
      },
    });
    const answer = fetch(`${origin(other)}/maintenance/slow`);
    await expect.poll(() => begun).toBe(true);
    const closed = holder.close();
    await expect.poll(() => holder.server.listening).toBe(false);
    gate.resolve('done');
    expect(await (await answer).text()).toBe('done');
    await closed;
  });

  test('a Leasehold that was started elsewhere is not stopped, and not waited for', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    onTestFinished(() => leasehold.stop());
    await leasehold.start();
    const app = Fastify();
    app.register(roleLeasePlugin, { leasehold, roles: ['maintenance'] });
    await app.listen({ host: '127.0.0.1', port: 0 });
    await expect.poll(() => app.roleLeases.get('maintenance').isHeld).toBe(true);
    const gate = Promise.withResolvers<void>();
    const work = leasehold.get('maintenance').whileHeld(() => gate.promise);
    await app.close();
    expect(leasehold.get('maintenance').isHeld).toBe(true);
    gate.resolve();
    await work;
  });

  test('what else is registered closes after the work, the last first', async () => {
    const order: string[] = [];
    const app = Fastify();
    app.addHook('onClose', async () => void order.push('pool'));
    app.register(roleLeasePlugin, { store: memoryStore(), roles: ['maintenance'] });
    app.register(async (jobs) => {
      jobs.addHook('onClose', async () => void order.push('jobs'));
    });
    await app.ready();
    const work = app.roleLeases.get('maintenance').whileHeld(async ({ signal }) => {
      await once(signal, 'abort');
      await setTimeout(20);
      order.push('work');
    });
    await app.close();
    await work;
    expect(order).toEqual(['work', 'jobs', 'pool']);
  });

  test('work that does not end holds close() up for the drain timeout and no longer', async () => {
    const app = Fastify();
    app.register(roleLeasePlugin, { store: memoryStore(), roles: ['maintenance'], drainTimeout: 50 });
    await app.ready();
    void app.roleLeases.get('maintenance').whileHeld(() => new Promise(() => {}));
    await app.close();
    expect(app.roleLeases.get('maintenance').state).toBe('stopped');
  });
});
