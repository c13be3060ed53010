import { createLeasehold, isLeaseholdError, type LeaseholdErrorCode } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { type OwnLeaseholdOptions, roleLeasePlugin, type RoleLeasePluginOptions } from '@leasehold/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { codeOf } from '../../../test/support/code-of.ts';
import { createPluginApp } from './support/plugin-app.ts';

const createApp = (options: RoleLeasePluginOptions = { store: memoryStore(), roles: ['maintenance'] }): FastifyInstance =>
  createPluginApp(options);

describe('decorators', () => {
  test('a single instance holds its roles once the application is ready', async () => {
    const app = createApp();
    await app.ready();
    expect(app.roleLeases.get('maintenance').isHeld).toBe(true);
    expect(app.leasehold.get('maintenance')).toBe(app.roleLeases.get('maintenance'));
    expect(app.roleLeases.heldRoles()).toEqual(['maintenance']);
  });

  test('nothing competes before the application is ready', async () => {
    const app = createApp();
    await app.after();
    expect(app.roleLeases.get('maintenance').isHeld).toBe(false);
  });

  test('they are seen inside and beside plugins, before and after', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    const seen: boolean[] = [];
    app.register(roleLeasePlugin, { store: memoryStore(), roles: ['maintenance'] });
    app.register(async (child) => void seen.push(child.roleLeases.has('maintenance')), { prefix: '/child' });
    await app.ready();
    expect(seen).toEqual([true]);
    expect(app.hasPlugin('@leasehold/fastify')).toBe(true);
  });

  test('registered inside a plugin, they are seen there alone', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    let inside = false;
    app.register(async (child) => {
      await child.register(roleLeasePlugin, { store: memoryStore(), roles: ['maintenance'] });
      inside = child.hasDecorator('leasehold');
    });
    await app.ready();
    expect(inside).toBe(true);
    expect(app.hasDecorator('leasehold')).toBe(false);
  });

  test('a plugin may depend on it by name', async () => {
    const fp = (await import('fastify-plugin')).default;
    const app = createApp();
    app.register(
      fp(async (instance: FastifyInstance) => void instance.roleLeases.get('maintenance'), {
        name: 'jobs',
        dependencies: ['@leasehold/fastify'],
      }),
    );
    await expect(app.ready()).resolves.toBeDefined();
  });
});

describe('roles', () => {
  test('names and objects with options may be mixed', async () => {
    const app = createApp({ store: memoryStore(), roles: ['maintenance', { name: 'reports', leaseDuration: '6s' }] });
    await app.ready();
    expect([...app.roleLeases].map(({ role, leaseDurationMs }) => [role, leaseDurationMs])).toEqual([
      ['maintenance', 15_000],
      ['reports', 6_000],
    ]);
  });

  test('more may be added by hand', async () => {
    const app = createApp({ store: memoryStore() });
    await app.after();
    app.leasehold.role('later');
    await app.ready();
    expect(app.roleLeases.heldRoles()).toEqual(['later']);
  });
});

describe('options that cannot be', () => {
  const refused: readonly (readonly [string, LeaseholdErrorCode, unknown])[] = [
    ['an empty role name', 'LEASEHOLD_INVALID_ROLE', { roles: [''] }],
    ['a role twice', 'LEASEHOLD_DUPLICATE_ROLE', { roles: ['a', { name: 'a' }] }],
    ['roles that are no array', 'LEASEHOLD_INVALID_OPTION', { roles: 'maintenance' }],
    ['a role that is neither name nor object', 'LEASEHOLD_INVALID_OPTION', { roles: [7] }],
    ["a role's timing", 'LEASEHOLD_INVALID_TIMING', { roles: [{ name: 'a', leaseDuration: '2s', renewInterval: '2s' }] }],
    ['a duration', 'LEASEHOLD_INVALID_DURATION', { leaseDuration: '15 seconds' }],
    ['an address', 'LEASEHOLD_INVALID_ADDRESS', { advertise: 'app-03:8443/path' }],
    ['an address of another type', 'LEASEHOLD_INVALID_ADDRESS', { advertise: 8443 }],
    ['a forgotten connection string', 'LEASEHOLD_INVALID_OPTION', { connectionString: undefined }],
    ['a schema without a connection', 'LEASEHOLD_INVALID_OPTION', { schema: 'leases' }],
    ['a store and a connection', 'LEASEHOLD_INVALID_OPTION', { store: memoryStore(), connectionString: 'postgres://h/d' }],
    ['a leasehold that is none', 'LEASEHOLD_INVALID_OPTION', { leasehold: {} }],
    [
      'a leasehold and options of its own',
      'LEASEHOLD_INVALID_OPTION',
      { leasehold: createLeasehold({ store: memoryStore() }), leaseDuration: '9s' },
    ],
  ];

  test.each(refused)('%s: ready() rejects with %s, and nothing is registered', async (_what, code, options) => {
    const app = createApp(options as RoleLeasePluginOptions);
    expect(await codeOf(app.ready())).toBe(code);
    expect(app.hasDecorator('leasehold')).toBe(false);
    expect(app.hasDecorator('roleLeases')).toBe(false);
  });

  test('a misspelt option: the message names those that the plugin has', async () => {
    const app = createApp({ store: memoryStore(), role: 'maintenance' } as RoleLeasePluginOptions);
    await expect(app.ready()).rejects.toThrow(
      /^"role" is no option of roleLeasePlugin; there are roles, .*connectionString, .*store/,
    );
  });

  test('listen() rejects too', async () => {
    const app = createApp({ store: memoryStore(), roles: [''] });
    expect(await codeOf(app.listen({ host: '127.0.0.1', port: 0 }))).toBe('LEASEHOLD_INVALID_ROLE');
  });

  test('production without a store', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await codeOf(createApp({ roles: ['maintenance'] }).ready())).toBe('LEASEHOLD_NO_STORE');
  });

  test('no connection string appears in a message', async () => {
    const app = createApp({ store: memoryStore(), connectionString: 'postgres://u:secret@h/d' });
    await expect(app.ready()).rejects.toThrow(/store/);
    const error = await createApp({ store: memoryStore(), connectionString: 'postgres://u:secret@h/d' })
      .ready()
      .then(String, String);
    expect(error).not.toContain('secret');
  });

  test("register's own options are not mistaken for others", async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    const leasehold = createLeasehold({ store: memoryStore() });
    app.register(roleLeasePlugin, { leasehold, roles: ['a'], prefix: '/x', logLevel: 'warn' });
    await app.ready();
    expect(app.roleLeases.heldRoles()).toEqual(['a']);
  });
});

describe('registered twice', () => {
  test.each([
    ['on the root', (app: FastifyInstance) => app],
    ['inside a plugin', null],
  ])('%s: a coded error with the fix', async (_where, pick) => {
    const app = createApp();
    const again = async (on: FastifyInstance): Promise<void> => {
      await on.register(roleLeasePlugin, { store: memoryStore() });
    };
    if (pick === null) app.register(again);
    else app.register(roleLeasePlugin, { store: memoryStore() });
    const error = await app.ready().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(isLeaseholdError(error, 'LEASEHOLD_ALREADY_REGISTERED')).toBe(true);
    expect(String(error)).toMatch(/register roleLeasePlugin once.*app\.leasehold\.role\(\)/);
  });
});

describe('a leasehold that is given', () => {
  test('is started with the application and stopped with it', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    const app = createApp({ leasehold, roles: ['maintenance'] });
    await app.ready();
    expect(app.leasehold).toBe(leasehold);
    expect(leasehold.get('maintenance').isHeld).toBe(true);
    await app.close();
    expect(leasehold.get('maintenance').state).toBe('stopped');
  });

  test('goes on running when it ran before', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    leasehold.role('maintenance');
    await leasehold.start();
    onTestFinished(() => leasehold.stop());
    const app = createApp({ leasehold });
    await app.ready();
    await app.close();
    expect(leasehold.get('maintenance').isHeld).toBe(true);
  });

  test('has none of the roles when one of the names cannot be', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    leasehold.role('taken');
    expect(await codeOf(createApp({ leasehold, roles: ['a', 'taken'] }).ready())).toBe('LEASEHOLD_DUPLICATE_ROLE');
    expect(await codeOf(createApp({ leasehold, roles: ['a', 'b\n'] }).ready())).toBe('LEASEHOLD_INVALID_ROLE');
    expect([...leasehold.leases].map(({ role }) => role)).toEqual(['taken']);
  });
});

describe('on PostgreSQL', () => {
  test.each([
    ['connectionString', { connectionString: 'postgres://nobody@127.0.0.1:1/none' }],
    ['connection', { connection: { host: '127.0.0.1', port: 1 } }],
    ['pool', { pool: new pg.Pool({ host: '127.0.0.1', port: 1 }) }],
  ])('%s makes a PostgreSQL store', async (_option, source) => {
    const app = createApp({ ...source, roles: ['maintenance'], startup: 'fail' });
    expect(await codeOf(app.ready())).toBe('LEASEHOLD_STORE_UNAVAILABLE');
  });
});

describe('advertise', () => {
  async function advertised(options: Omit<OwnLeaseholdOptions, 'store'>, host = '127.0.0.1'): Promise<string | null> {
    const app = createApp({ store: memoryStore(), roles: ['maintenance'], ...options });
    await app.listen({ host, port: 0 });
    return app.leasehold.instance.address?.replace(`:${new URL(app.listeningOrigin).port}`, ':PORT') ?? null;
  }

  test('the address that the server listens on, by default', async () => {
    expect(await advertised({})).toBe('http://127.0.0.1:PORT');
  });

  test('a URL', async () => {
    expect(await advertised({ advertise: 'https://app-03.internal:8443/' })).toBe('https://app-03.internal:8443');
  });

  test('what a function answers once the server listens', async () => {
    expect(await advertised({ advertise: () => 'http://app-03.internal:8080' })).toBe('http://app-03.internal:8080');
  });

  test('instance.address wins over the default', async () => {
    expect(await advertised({ instance: { address: 'http://app-03.internal:1' } })).toBe('http://app-03.internal:1');
  });

  test('so does the address of a Leasehold that is given', async () => {
    const address = 'http://app-03.internal:1';
    const app = createApp({ leasehold: createLeasehold({ store: memoryStore(), instance: { address } }) });
    await app.listen({ host: '127.0.0.1', port: 0 });
    expect(app.leasehold.instance.address).toBe(address);
  });

  test('a function that throws costs the address and not the server', async () => {
    const failing = (): never => {
      throw new Error('no metadata');
    };
    expect(await advertised({ advertise: failing })).toBeNull();
  });

  test('nothing behind inject', async () => {
    const app = createApp();
    app.get('/', async () => app.leasehold.instance.address ?? 'none');
    expect((await app.inject('/')).body).toBe('none');
  });

  test('the others learn it without waiting for a heartbeat', async () => {
    const app = createApp();
    await app.listen({ host: '127.0.0.1', port: 0 });
    await expect.poll(() => app.roleLeases.get('maintenance').currentHolderAddress).toBe(app.listeningOrigin);
  });
});

describe('the log', () => {
  test("is Fastify's", async () => {
    const lines: string[] = [];
    const app = Fastify({ logger: { stream: { write: (line) => void lines.push(line) } } });
    onTestFinished(() => app.close());
    app.register(roleLeasePlugin, { store: memoryStore(), roles: ['maintenance'] });
    await app.ready();
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ msg: 'role acquired', role: 'maintenance', fencingToken: '1' }),
    );
  });

  test('is the one given', async () => {
    const info = vi.fn<(fields: object, message: string) => void>();
    const logger = { debug: info, info, warn: info, error: info };
    await createApp({ store: memoryStore(), roles: ['maintenance'], logger }).ready();
    expect(info).toHaveBeenCalledWith(expect.objectContaining({ role: 'maintenance' }), 'role acquired');
  });
});
