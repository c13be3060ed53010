import { createLeasehold, type Leasehold, type RoleLease, type RolePartition } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import {
  InjectLeasehold,
  InjectRoleLease,
  InjectRolePartition,
  installPartitionHolderProxy,
  installRoleHolderProxy,
  LEASEHOLD,
  LeaseholdHealthIndicator,
  LeaseholdModule,
  type PartitionName,
  RequirePartition,
  RequireRole,
  type RoleName,
  type RoleNameOf,
  WhileHeld,
} from '@leasehold/nestjs';
import type { AffinityKey, PartitionLeasehold } from '@leasehold/proxy';
import type { DynamicModule, INestApplication } from '@nestjs/common';
import { Controller, Get } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import type { HealthCheckService, HealthIndicatorResult } from '@nestjs/terminus';
import type { IncomingMessage } from 'node:http';
import pg from 'pg';
import { describe, expectTypeOf, test } from 'vitest';

const store = memoryStore();
declare const app: INestApplication;
declare const partitions: PartitionLeasehold;
declare const health: HealthCheckService;

describe('LeaseholdModule', () => {
  test('a store, or a connection, or none', () => {
    expectTypeOf(LeaseholdModule.forRoot({ store, roles: ['maintenance'] })).toEqualTypeOf<DynamicModule>();
    LeaseholdModule.forRoot();
    LeaseholdModule.forRoot({ connectionString: process.env['DATABASE_URL'], schema: 'leases', migrate: 'never' });
    LeaseholdModule.forRoot({ pool: new pg.Pool(), roles: [{ name: 'maintenance', maxHold: '1h' }], advertise: 'auto' });
    LeaseholdModule.forRootAsync({ useFactory: async (label: string) => ({ store, instance: { label } }), inject: ['label'] });
    LeaseholdModule.forFeature({ roles: ['maintenance'] });
  });

  test('a Leasehold that is given, and proxies', () => {
    const leasehold = createLeasehold({ store });
    LeaseholdModule.forRoot({ leasehold, roles: ['maintenance'], advertise: 'auto' });
    LeaseholdModule.forRoot({ store, proxy: [{ role: 'maintenance', prefixes: ['/maintenance'], onRoleChange: 'close' }] });
    LeaseholdModule.forRootAsync({ useFactory: () => ({ leasehold, proxy: [{ role: 'a', prefixes: ['/a'] }] }) });
    // @ts-expect-error -- a leasehold has its options already
    LeaseholdModule.forRoot({ leasehold, leaseDuration: '30s' });
    // @ts-expect-error -- a leasehold has its store already
    LeaseholdModule.forRoot({ leasehold, store });
    // @ts-expect-error -- not a list
    LeaseholdModule.forRoot({ store, proxy: { role: 'maintenance', prefixes: ['/maintenance'] } });
    // @ts-expect-error -- no prefixes
    LeaseholdModule.forRoot({ store, proxy: [{ role: 'maintenance' }] });
    // @ts-expect-error -- not a duration
    LeaseholdModule.forRoot({ store, proxy: [{ role: 'maintenance', prefixes: ['/a'], headTimeout: 'soon' }] });
    // @ts-expect-error -- not an option of a proxy
    LeaseholdModule.forRoot({ store, proxy: [{ role: 'maintenance', prefixes: ['/a'], headTimeOut: '10s' }] });
  });

  test('partitions, by name', () => {
    const partitions = { devices: { count: 64, balance: 'fair' }, orders: { count: 8, maxHold: '1h' } } as const;
    LeaseholdModule.forRoot({ store, partitions });
    LeaseholdModule.forRoot({ leasehold: createLeasehold({ store }), roles: ['maintenance'], partitions });
    LeaseholdModule.forRootAsync({ useFactory: () => ({ store }), partitions });
    LeaseholdModule.forFeature({ partitions: { devices: { count: 64, balance: 'fair' } } });
    LeaseholdModule.forFeature({ roles: ['maintenance'], partitions });
    // @ts-expect-error -- no count
    LeaseholdModule.forRoot({ store, partitions: { devices: {} } });
    // @ts-expect-error -- a count is a number
    LeaseholdModule.forRoot({ store, partitions: { devices: { count: '64' } } });
    // @ts-expect-error -- there is no such balance
    LeaseholdModule.forFeature({ partitions: { devices: { count: 64, balance: 'even' } } });
    // @ts-expect-error -- not an option of a partition
    LeaseholdModule.forFeature({ partitions: { devices: { count: 64, balanced: true } } });
    // @ts-expect-error -- a list has no counts
    LeaseholdModule.forFeature({ partitions: ['devices'] });
    // @ts-expect-error -- not a duration
    LeaseholdModule.forRootAsync({ useFactory: () => ({ store }), partitions: { devices: { count: 4, maxHold: 'an hour' } } });
  });

  test('what cannot be does not compile', () => {
    // @ts-expect-error -- a role is a name or an object
    LeaseholdModule.forRoot({ store, roles: [7] });
    // @ts-expect-error -- not an option of a role
    LeaseholdModule.forRoot({ store, roles: [{ name: 'maintenance', maxHolt: '1h' }] });
    // @ts-expect-error -- not a duration
    LeaseholdModule.forFeature({ roles: [{ name: 'maintenance', leaseDuration: '15 seconds' }] });
    // @ts-expect-error -- roles or partitions are needed
    LeaseholdModule.forFeature({});
    // @ts-expect-error -- not a duration
    LeaseholdModule.forRootAsync({ useFactory: () => ({ store, leaseDuration: '15 seconds' }) });
    // @ts-expect-error -- a factory is needed
    LeaseholdModule.forRootAsync({ inject: [] });
  });
});

describe('decorators', () => {
  test('on parameters, properties, classes and methods', () => {
    @Controller()
    @RequireRole('maintenance')
    class Everything {
      @InjectRoleLease('maintenance') readonly lease!: RoleLease;

      constructor(@InjectLeasehold() leasehold: Leasehold, @InjectRoleLease('reports') reports: RoleLease) {
        void [leasehold, reports];
      }

      @Get()
      @RequireRole('reports')
      get(): string {
        return '';
      }

      @Cron('0 3 * * *')
      @WhileHeld('maintenance')
      async cleanUp(): Promise<void> {}

      @WhileHeld('maintenance')
      async note(text: string): Promise<void> {
        void text;
      }
    }
    void Everything;
  });

  test('of a partition', () => {
    interface Routed {
      readonly params: { readonly id: string };
    }
    @Controller()
    @RequirePartition('devices', (request) => {
      expectTypeOf(request).toEqualTypeOf<IncomingMessage>();
      return request.headers['x-device-id'];
    })
    class Devices {
      @InjectRolePartition('devices') readonly devices!: RolePartition;

      @Get(':id')
      @RequirePartition('devices', ({ params }: Routed, context) => `${context.getClass().name} ${params.id}`, {
        scope: 'Device',
      })
      get(): string {
        return '';
      }

      @WhileHeld('devices', (id: string) => id)
      async poll(id: string, times?: number): Promise<string | undefined> {
        return times === undefined ? undefined : id;
      }

      @WhileHeld('devices', ({ id }: { id: string }) => id, { scope: 'Device' })
      async take(device: { id: string; state: number }): Promise<void> {
        void device;
      }

      // @ts-expect-error -- the key is told by a string, and there is a number
      @WhileHeld('devices', (id: string) => id)
      async number(id: number): Promise<void> {
        void id;
      }

      // @ts-expect-error -- the key is told by an argument, and there is none
      @WhileHeld('devices', (id: string) => id)
      async none(): Promise<void> {}

      // @ts-expect-error -- a promise of a value, which a caller would believe in
      @WhileHeld('devices', (id: string) => id)
      async promised(id: string): Promise<number> {
        return id.length;
      }

      // @ts-expect-error -- a number is no key
      @WhileHeld('devices', (id: number) => id)
      async keyless(id: number): Promise<void> {
        void id;
      }

      // @ts-expect-error -- a key that has to be waited for
      @RequirePartition('devices', async () => 'key')
      late(): void {}
    }
    void Devices;
  });

  test('@WhileHeld: the answer has to include undefined, since the method may not run', () => {
    class Answers {
      @WhileHeld('maintenance')
      async maybe(id: number): Promise<string | undefined> {
        return id > 0 ? String(id) : undefined;
      }

      // @ts-expect-error -- a value
      @WhileHeld('maintenance')
      value(): number {
        return 1;
      }

      // @ts-expect-error -- a promise of a value, which a caller would believe in
      @WhileHeld('maintenance')
      async promised(): Promise<number> {
        return 1;
      }

      // @ts-expect-error -- null is not undefined
      @WhileHeld('maintenance')
      async nothing(): Promise<string | null> {
        return null;
      }

      // @ts-expect-error -- not asynchronous, which its callers would not know
      @WhileHeld('maintenance')
      synchronous(): void {}

      // @ts-expect-error -- not a method
      @WhileHeld('maintenance') readonly property = 1;
    }
    expectTypeOf<Answers['maybe']>().toEqualTypeOf<(id: number) => Promise<string | undefined>>();
  });
});

describe('role names', () => {
  test('are any string until RegisteredRoles is augmented', () => {
    expectTypeOf<RoleName>().toEqualTypeOf<string>();
    expectTypeOf<PartitionName>().toEqualTypeOf<string>();
    expectTypeOf<RoleNameOf<{ maintenance: true; reports: true }>>().toEqualTypeOf<'maintenance' | 'reports'>();
  });
});

test('installRoleHolderProxy: role and prefixes are needed', () => {
  installRoleHolderProxy(app, { role: 'maintenance', prefixes: ['/maintenance'], headTimeout: '10s' });
  // @ts-expect-error -- no prefixes
  installRoleHolderProxy(app, { role: 'maintenance' });
  // @ts-expect-error -- no role
  installRoleHolderProxy(app, { prefixes: ['/maintenance'] });
});

test('installPartitionHolderProxy: a partition and the key of a request are needed', () => {
  const affinityKey = ({ headers }: IncomingMessage): AffinityKey => headers['x-device-id'];
  installPartitionHolderProxy(app, { leasehold: partitions, partition: 'devices', affinityKey, prefixes: ['/devices'] });
  installPartitionHolderProxy(app, { partition: 'devices', affinityKey, prefixes: ['/devices'] });
  installPartitionHolderProxy(app, { leasehold: app.get<Leasehold>(LEASEHOLD), partition: 'a', affinityKey, prefixes: ['/a'] });
  // @ts-expect-error -- no affinity key
  installPartitionHolderProxy(app, { partition: 'devices', prefixes: ['/devices'] });
});

test('the health indicator is one of terminus', () => {
  const indicator = app.get(LeaseholdHealthIndicator);
  expectTypeOf(indicator.isHealthy()).toExtend<Promise<HealthIndicatorResult>>();
  void health.check([() => indicator.isHealthy(), () => indicator.isHealthy('roles')]);
});
