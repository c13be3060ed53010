import type { LeaseholdErrorCode, Leasehold, RoleLease } from '@leasehold/core';
import { createLeasehold, isLeaseholdError } from '@leasehold/core';
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

async function codeOf(promise: Promise<unknown>): Promise<LeaseholdErrorCode | undefined> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return isLeaseholdError(error) ? error.code : undefined;
}

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
