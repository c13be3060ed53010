import { createLeasehold, type Leasehold, type RoleLease, type RolePartition } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import type { IncomingMessage } from 'node:http';
import {
  type NamedPartitions,
  partitionHolderProxy,
  type PartitionName,
  type RoleGuardHook,
  roleHolderProxy,
  roleLeasePlugin,
  type RoleLeasePluginOptions,
  type RoleLeases,
  type RoleName,
  type RoleNameOf,
  type RolePartitions,
} from '@leasehold/fastify';
import Fastify, { type FastifyContextConfig, type FastifyInstance, type FastifyRequest } from 'fastify';
import pg from 'pg';
import { describe, expectTypeOf, test } from 'vitest';

const store = memoryStore();
const app = Fastify();

describe('decorators', () => {
  test('are there on every instance', () => {
    expectTypeOf(app.leasehold).toEqualTypeOf<Leasehold>();
    expectTypeOf(app.roleLeases).toEqualTypeOf<RoleLeases>();
    expectTypeOf(app.roleLeases.get('maintenance')).toEqualTypeOf<RoleLease>();
    expectTypeOf(app.rolePartitions).toEqualTypeOf<RolePartitions>();
    expectTypeOf(app.rolePartitions.get('devices')).toEqualTypeOf<RolePartition>();
    expectTypeOf<FastifyInstance['roleLeases']['heldRoles']>().returns.toEqualTypeOf<string[]>();
  });

  test('in a plugin and in a handler', () => {
    app.register(async (child) => {
      child.get('/', function () {
        return this.roleLeases.get('maintenance').isHeld && child.roleLeases.get('maintenance').isHeld;
      });
    });
  });
});

describe('role names', () => {
  test('are any string until RegisteredRoles is augmented', () => {
    expectTypeOf<RoleName>().toEqualTypeOf<string>();
    expectTypeOf<PartitionName>().toEqualTypeOf<string>();
    expectTypeOf<RoleNameOf<{ maintenance: true; reports: true }>>().toEqualTypeOf<'maintenance' | 'reports'>();
  });
});

describe('options of roleLeasePlugin', () => {
  test('one of store, connectionString, connection, pool and leasehold, or none', () => {
    app.register(roleLeasePlugin, { store, roles: ['maintenance'] });
    app.register(roleLeasePlugin, { connectionString: process.env['DATABASE_URL'], schema: 'leases', migrate: 'never' });
    app.register(roleLeasePlugin, { connection: { host: 'db.internal' }, leaseDuration: '30s' });
    app.register(roleLeasePlugin, { pool: new pg.Pool(), callTimeout: 500 });
    app.register(roleLeasePlugin, { leasehold: createLeasehold({ store }), advertise: 'auto' });
    app.register(roleLeasePlugin, { roles: [{ name: 'maintenance', maxHold: '1h' }] });
    app.register(roleLeasePlugin, { store, advertise: () => 'http://app-03.internal:8080', logLevel: 'warn' });
  });

  test('partitions, by name', () => {
    app.register(roleLeasePlugin, {
      store,
      partitions: { devices: { count: 64, balance: 'fair' }, orders: { count: 8, maxHold: '1h' } },
    });
    app.register(roleLeasePlugin, { leasehold: createLeasehold({ store }), partitions: { devices: { count: 64 } } });
    expectTypeOf<NamedPartitions>().toExtend<RoleLeasePluginOptions['partitions']>();
    // @ts-expect-error -- no count
    app.register(roleLeasePlugin, { store, partitions: { devices: {} } });
    // @ts-expect-error -- a count is a number
    app.register(roleLeasePlugin, { store, partitions: { devices: { count: '64' } } });
    // @ts-expect-error -- there is no such balance
    app.register(roleLeasePlugin, { store, partitions: { devices: { count: 64, balance: 'even' } } });
    // @ts-expect-error -- not an option of a partition
    app.register(roleLeasePlugin, { store, partitions: { devices: { count: 64, balanced: true } } });
    // @ts-expect-error -- not a duration
    app.register(roleLeasePlugin, { store, partitions: { devices: { count: 64, leaseDuration: '15 seconds' } } });
    // @ts-expect-error -- a list has no counts
    app.register(roleLeasePlugin, { store, partitions: ['devices'] });
    // @ts-expect-error -- with a given leasehold, too
    app.register(roleLeasePlugin, { leasehold: createLeasehold({ store }), partitions: { devices: { count: '64' } } });
  });

  test('they may be made from the parent', () => {
    app.register(roleLeasePlugin, (parent) => {
      expectTypeOf(parent).toEqualTypeOf<FastifyInstance>();
      return { store };
    });
  });

  test('what cannot be does not compile', () => {
    // @ts-expect-error -- a role is a name or an object
    app.register(roleLeasePlugin, { store, roles: [7] });
    // @ts-expect-error -- not a duration
    app.register(roleLeasePlugin, { store, leaseDuration: '15 seconds' });
    // @ts-expect-error -- a leasehold has its options already
    app.register(roleLeasePlugin, { leasehold: createLeasehold({ store }), leaseDuration: '30s' });
    expectTypeOf<{ store: 7 }>().not.toExtend<RoleLeasePluginOptions>();
  });
});

describe('options of roleHolderProxy', () => {
  test('role and prefixes are needed', () => {
    app.register(roleHolderProxy, { role: 'maintenance', prefixes: ['/maintenance'], headTimeout: '10s' });
    app.register(roleHolderProxy, { role: 'maintenance', prefixes: ['/maintenance'], leasehold: createLeasehold({ store }) });
    // @ts-expect-error -- no prefixes
    app.register(roleHolderProxy, { role: 'maintenance' });
    // @ts-expect-error -- no role
    app.register(roleHolderProxy, { prefixes: ['/maintenance'] });
  });
});

describe('options of partitionHolderProxy', () => {
  const affinityKey = (request: IncomingMessage): string | undefined => request.url;

  test('partition, affinityKey and prefixes are needed', () => {
    app.register(partitionHolderProxy, { partition: 'devices', affinityKey, prefixes: ['/device-api'], scope: 'Order' });
    // @ts-expect-error -- no affinityKey
    app.register(partitionHolderProxy, { partition: 'devices', prefixes: ['/device-api'] });
    // @ts-expect-error -- has no partitions
    app.register(partitionHolderProxy, { partition: 'devices', affinityKey, prefixes: ['/d'], leasehold: { instance: {} } });
  });
});

describe('guards', () => {
  test('requireRole is a hook of every kind that comes before the handler', () => {
    const guard = app.requireRole('maintenance');
    expectTypeOf(guard).toEqualTypeOf<RoleGuardHook>();
    app.get('/', { onRequest: guard, preValidation: [guard], preHandler: [guard] }, async () => 'ran');
    app.addHook('onRequest', guard);
    app.addHook('preHandler', guard);
    const other = Fastify({ http2: true });
    other.get('/', { onRequest: other.requireRole('maintenance') }, async () => 'ran');
  });

  test('requirePartition is one too, and knows the request by what is said of it', () => {
    const guard = app.requirePartition('devices', (request) => {
      expectTypeOf(request).toEqualTypeOf<FastifyRequest>();
      return request.headers['x-device-id'];
    });
    expectTypeOf(guard).toEqualTypeOf<RoleGuardHook>();
    type DeviceRequest = FastifyRequest<{ Params: { id: string } }>;
    const byId = app.requirePartition('devices', (request: DeviceRequest) => request.params.id, { scope: 'Device' });
    app.get('/:id', { onRequest: guard, preValidation: [guard], preHandler: [byId] }, async () => 'ran');
    app.get<{ Params: { id: string } }>('/by/:id', { preHandler: byId }, async (request) => request.params.id);
    const other = Fastify({ http2: true });
    other.get('/:id', { onRequest: other.requirePartition('devices', ({ headers }) => headers['x-id']) }, async () => 'ran');
    // @ts-expect-error -- no key
    app.requirePartition('devices');
    // @ts-expect-error -- a key that has to be waited for
    app.requirePartition('devices', async () => 'key');
    // @ts-expect-error -- a number is no key
    app.requirePartition('devices', () => 7);
    // @ts-expect-error -- not an option
    app.requirePartition('devices', () => 'key', { scop: 'Device' });
  });

  test('a route names its role', () => {
    expectTypeOf<FastifyContextConfig['role']>().toEqualTypeOf<string | undefined>();
    app.get('/', { config: { role: 'maintenance' } }, async () => 'ran');
    // @ts-expect-error -- one role
    app.get('/', { config: { role: ['maintenance'] } }, async () => 'ran');
  });
});

describe('other instances of Fastify', () => {
  test('HTTPS, HTTP/2 and a logger of their own', () => {
    for (const other of [Fastify({ https: {} }), Fastify({ logger: { level: 'warn' } })]) {
      expectTypeOf(other.roleLeases).toEqualTypeOf<RoleLeases>();
    }
    Fastify({ https: {} })
      .register(roleLeasePlugin, { store })
      .register(roleHolderProxy, { role: 'a', prefixes: ['/a'] });
    Fastify({ http2: true })
      .register(roleLeasePlugin, { store })
      .register(roleHolderProxy, { role: 'a', prefixes: ['/a'] });
    Fastify({
      loggerInstance: {
        ...console,
        fatal: console.error,
        trace: console.debug,
        silent() {},
        level: 'info',
        child: () => app.log,
      },
    })
      .register(roleLeasePlugin, { store })
      .register(roleHolderProxy, { role: 'a', prefixes: ['/a'] });
  });
});
