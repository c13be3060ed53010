import type { LeaseholdErrorCode, Leasehold, RoleLease } from '@leasehold/core';
import { createLeasehold } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import {
  getRoleLeaseToken,
  InjectLeasehold,
  InjectRoleLease,
  LEASEHOLD,
  LeaseholdModule,
  type LeaseholdModuleOptions,
} from '@leasehold/nestjs';
import { Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { codeOf } from '../../../test/support/code-of.ts';
import { adapterOf, createApp, leaseholdOf, leaseOf, platforms } from './support/apps.ts';

@Injectable()
class Worker {
  readonly leasehold: Leasehold;
  readonly lease: RoleLease;

  constructor(@InjectLeasehold() leasehold: Leasehold, @InjectRoleLease('maintenance') lease: RoleLease) {
    this.leasehold = leasehold;
    this.lease = lease;
  }
}

@Module({
  imports: [LeaseholdModule.forFeature({ roles: ['maintenance', { name: 'reports', maxHold: '1h' }] })],
  providers: [Worker],
})
class WorkModule {}

@Module({ imports: [LeaseholdModule.forFeature({ roles: ['maintenance'] })] })
class OtherModule {}

describe.each(platforms)('on %s', (platform) => {
  test('forRoot: the lease is injected, and held once the application is up', async () => {
    const forRoot = LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance'] });
    const app = await createApp(platform, { imports: [forRoot], providers: [Worker] });
    const worker = app.get(Worker);
    expect([worker.lease, worker.leasehold]).toEqual([leaseOf(app), leaseholdOf(app)]);
    expect(worker.lease.isHeld).toBe(false);
    await app.init();
    expect(worker.lease.isHeld).toBe(true);
  });

  test('forRootAsync: settings come from other providers', async () => {
    @Module({ providers: [{ provide: 'label', useValue: 'configured' }], exports: ['label'] })
    class ConfigModule {}
    const forRootAsync = LeaseholdModule.forRootAsync({
      imports: [ConfigModule],
      inject: ['label'],
      useFactory: async (label: string) => ({ store: memoryStore(), instance: { label } }),
      roles: ['maintenance'],
    });
    const app = await createApp(platform, { imports: [forRootAsync], providers: [Worker] });
    await app.init();
    expect(app.get(Worker).leasehold.instance.label).toBe('configured');
    expect(app.get(Worker).lease.isHeld).toBe(true);
  });

  test('forFeature: modules add roles and share them', async () => {
    const app = await createApp(platform, {
      imports: [LeaseholdModule.forRoot({ store: memoryStore() }), WorkModule, OtherModule],
    });
    await app.init();
    expect(leaseholdOf(app).leases.heldRoles().sort()).toEqual(['maintenance', 'reports']);
    expect(app.get(Worker, { strict: false }).lease).toBe(leaseholdOf(app).get('maintenance'));
  });

  test('in tests: overrideProvider puts another Leasehold in its place, and one that runs already goes on', async () => {
    const given = createLeasehold({ store: memoryStore(), instance: { label: 'given' } });
    await given.start();
    onTestFinished(() => given.stop());
    const imports = [LeaseholdModule.forRoot({ connectionString: 'postgres://nowhere.invalid/db', roles: ['maintenance'] })];
    const builder = Test.createTestingModule({ imports, providers: [Worker] });
    const compiled = await builder.overrideProvider(LEASEHOLD).useValue(given).compile();
    const app = compiled.createNestApplication(adapterOf(platform), { logger: false });
    await app.init();
    await expect.poll(() => app.get(Worker).lease.isHeld).toBe(true);
    await app.close();
    expect([app.get(Worker).leasehold, given.get('maintenance').isHeld]).toEqual([given, true]);
  });

  test('in tests: overrideProvider puts another lease in its place', async () => {
    const lease = { isHeld: false };
    const imports = [LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance'] })];
    const builder = Test.createTestingModule({ imports, providers: [Worker] });
    const compiled = await builder.overrideProvider(getRoleLeaseToken('maintenance')).useValue(lease).compile();
    const app = compiled.createNestApplication(adapterOf(platform), { logger: false });
    onTestFinished(() => app.close());
    await app.init();
    expect(app.get(Worker).lease).toBe(lease);
  });
});

describe('a Leasehold that is given', () => {
  const make = (instance: { label: string; address?: string }): Leasehold => createLeasehold({ store: memoryStore(), instance });

  test('is started and stopped with the application, and learns its roles and its address', async () => {
    const leasehold = make({ label: 'given' });
    const forRoot = LeaseholdModule.forRoot({ leasehold, roles: ['maintenance'] });
    const app = await createApp('express', { imports: [forRoot], providers: [Worker] });
    await app.listen(0, '127.0.0.1');
    const worker = app.get(Worker);
    expect([worker.leasehold, worker.lease.isHeld]).toEqual([leasehold, true]);
    expect(leasehold.instance.address).toBe(await app.getUrl());
    await app.close();
    expect(worker.lease.state).toBe('stopped');
  });

  test('that runs already goes on when the application closes, and its roles are shared', async () => {
    const leasehold = make({ label: 'given' });
    const lease = leasehold.role('maintenance', { maxHold: '1h' });
    await leasehold.start();
    onTestFinished(() => leasehold.stop());
    const forRootAsync = LeaseholdModule.forRootAsync({ useFactory: () => ({ leasehold }), roles: ['maintenance'] });
    const app = await createApp('fastify', { imports: [forRootAsync], providers: [Worker] });
    await app.init();
    expect(app.get(Worker).lease).toBe(lease);
    await app.close();
    expect(lease.isHeld).toBe(true);
  });

  test.each([
    [undefined, 'http://app-03.internal'],
    ['http://app-04.internal', 'http://app-04.internal'],
  ])('that knows its address keeps it; advertise: %s', async (advertise, address) => {
    const leasehold = make({ label: 'given', address: 'http://app-03.internal' });
    const forRoot = LeaseholdModule.forRoot({ leasehold, ...(advertise === undefined ? {} : { advertise }) });
    const app = await createApp('express', { imports: [forRoot] });
    await app.listen(0, '127.0.0.1');
    expect(leasehold.instance.address).toBe(address);
  });

  test.each<[string, object]>([
    ['store', { leasehold: make({ label: 'given' }), store: memoryStore() }],
    ['leaseDuration', { leasehold: make({ label: 'given' }), leaseDuration: '15s' }],
    ['connectionString', { leasehold: make({ label: 'given' }), connectionString: 'postgres://localhost/db' }],
    ['leasehold', { leasehold: {} }],
    ['leasehold', { leasehold: null }],
  ])('is refused with what is not for it: %s', async (option, options) => {
    const created = createApp('express', { imports: [LeaseholdModule.forRoot(options)] });
    await expect(created).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_OPTION', option });
  });
});

test('without HTTP: an application context has leases too', async () => {
  const forRoot = LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance'] });
  const app = await NestFactory.createApplicationContext({ module: OtherModule, imports: [forRoot] }, { logger: false });
  const lease = app.get<RoleLease>(getRoleLeaseToken('maintenance'), { strict: false });
  expect(lease.isHeld).toBe(true);
  await app.close();
  expect(lease.state).toBe('stopped');
});

describe('refused', () => {
  const start = (...imports: unknown[]): Promise<unknown> => createApp('express', { imports: imports as never });

  test.each<[string, LeaseholdErrorCode, object]>([
    ['a lease that is none', 'LEASEHOLD_INVALID_DURATION', { leaseDuration: '15 seconds' }],
    [
      'a store and a connection',
      'LEASEHOLD_INVALID_OPTION',
      { store: memoryStore(), connectionString: 'postgres://localhost/db' },
    ],
    ['a connection string that was forgotten', 'LEASEHOLD_INVALID_OPTION', { connectionString: undefined }],
    ['an address that is none', 'LEASEHOLD_INVALID_ADDRESS', { store: memoryStore(), advertise: 'app-03' }],
    ['a role name that cannot be', 'LEASEHOLD_INVALID_ROLE', { store: memoryStore(), roles: [''] }],
  ])('%s: %s', async (_what, code, options) => {
    expect(await codeOf(start(LeaseholdModule.forRoot(options as LeaseholdModuleOptions)))).toBe(code);
  });

  test.each([7, [7], [{ maxHold: '1h' }]])('roles that are none, at once: %j', (roles) => {
    const make = (): unknown => LeaseholdModule.forRoot({ roles: roles as never });
    expect(make).toThrow(expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION' }));
    expect(make).toThrow(/^roles/);
  });

  test('a misspelt option: the message names those that the module has', async () => {
    const misspelt = { store: memoryStore(), role: 'maintenance' } as LeaseholdModuleOptions;
    const message = /^"role" is no option of LeaseholdModule; there are roles, .*proxy, .*connectionString, .*store/;
    await expect(start(LeaseholdModule.forRoot(misspelt))).rejects.toThrow(message);
  });

  test('a second forRoot', async () => {
    const two = [
      LeaseholdModule.forRoot({ store: memoryStore() }),
      LeaseholdModule.forRoot({ store: memoryStore(), roles: ['a'] }),
    ];
    expect(await codeOf(start(...two))).toBe('LEASEHOLD_ALREADY_REGISTERED');
  });

  test('options for a role that is registered already', async () => {
    const root = LeaseholdModule.forRoot({ store: memoryStore(), roles: ['reports'] });
    const feature = LeaseholdModule.forFeature({ roles: [{ name: 'reports', maxHold: '1h' }] });
    expect(await codeOf(start(root, feature))).toBe('LEASEHOLD_DUPLICATE_ROLE');
  });

  test('roles from the factory, which come too late', async () => {
    const settings = { store: memoryStore(), roles: ['maintenance'] };
    expect(await codeOf(start(LeaseholdModule.forRootAsync({ useFactory: () => settings })))).toBe('LEASEHOLD_INVALID_OPTION');
  });

  test('production without a store', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await codeOf(start(LeaseholdModule.forRoot()))).toBe('LEASEHOLD_NO_STORE');
  });

  test('a lease of a role that no module names', async () => {
    class Needy {
      readonly lease: RoleLease;
      constructor(@Inject(getRoleLeaseToken('unnamed')) lease: RoleLease) {
        this.lease = lease;
      }
    }
    const app = createApp('express', { imports: [LeaseholdModule.forRoot({ store: memoryStore() })], providers: [Needy] });
    await expect(app).rejects.toThrow('leasehold:role-lease:unnamed');
  });
});
