import type { Leasehold, LeaseholdErrorCode, PartitionOptions, RolePartition } from '@leasehold/core';
import { createLeasehold } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import {
  getRolePartitionToken,
  InjectRolePartition,
  LEASEHOLD,
  LeaseholdModule,
  type LeaseholdModuleOptions,
} from '@leasehold/nestjs';
import { type DynamicModule, Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { codeOf } from '../../../test/support/code-of.ts';
import { adapterOf, createApp, leaseholdOf, platforms } from './support/apps.ts';

@Injectable()
class Devices {
  readonly partition: RolePartition;

  constructor(@InjectRolePartition('devices') partition: RolePartition) {
    this.partition = partition;
  }
}

const partitions = { devices: { count: 4, balance: 'fair' } } as const;

@Module({ imports: [LeaseholdModule.forFeature({ partitions })], providers: [Devices] })
class DeviceModule {}

/** Declares the same, in an object of its own. */
@Module({
  imports: [LeaseholdModule.forFeature({ roles: ['maintenance'], partitions: { devices: { balance: 'fair', count: 4 } } })],
})
class OtherModule {}

const rolesOf = (leasehold: Leasehold): string[] => Array.from(leasehold.leases, ({ role }) => role).toSorted();
const DEVICES = [0, 1, 2, 3].map((place) => `devices:partition-${place}`);

describe.each(platforms)('on %s', (platform) => {
  test('forRoot: the partition is injected, and held once the application is up', async () => {
    const forRoot = LeaseholdModule.forRoot({ store: memoryStore(), partitions });
    const app = await createApp(platform, { imports: [forRoot], providers: [Devices] });
    const { partition } = app.get(Devices);
    expect(partition).toBe(leaseholdOf(app).getPartition('devices'));
    expect([partition.count, partition.isHeld('device-42')]).toEqual([4, false]);
    await app.init();
    await expect.poll(() => leaseholdOf(app).leases.heldRoles().toSorted()).toEqual(DEVICES);
    expect(partition.isHeld('device-42')).toBe(true);
  });

  test('forRootAsync: beside the factory', async () => {
    const forRootAsync = LeaseholdModule.forRootAsync({ useFactory: async () => ({ store: memoryStore() }), partitions });
    const app = await createApp(platform, { imports: [forRootAsync], providers: [Devices] });
    await app.init();
    expect(app.get(Devices).partition.count).toBe(4);
  });

  test('forFeature: modules declare a partition alike, and share it', async () => {
    const imports = [LeaseholdModule.forRoot({ store: memoryStore() }), DeviceModule, OtherModule];
    const app = await createApp(platform, { imports });
    await app.init();
    expect(rolesOf(leaseholdOf(app))).toEqual([...DEVICES, 'maintenance']);
    expect(app.get(Devices, { strict: false }).partition).toBe(leaseholdOf(app).getPartition('devices'));
  });

  test('in tests: overrideProvider puts another Leasehold in its place, which gets the partition', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    const imports = [LeaseholdModule.forRoot({ connectionString: 'postgres://nowhere.invalid/db', partitions })];
    const builder = Test.createTestingModule({ imports, providers: [Devices] });
    const compiled = await builder.overrideProvider(LEASEHOLD).useValue(leasehold).compile();
    const app = compiled.createNestApplication(adapterOf(platform), { logger: false });
    onTestFinished(() => app.close());
    await app.init();
    expect(app.get(Devices).partition).toBe(leasehold.getPartition('devices'));
    await expect.poll(() => app.get(Devices).partition.isHeld('device-42')).toBe(true);
  });

  test('in tests: overrideProvider puts another partition in its place', async () => {
    const fake = { isHeld: () => true };
    const imports = [LeaseholdModule.forRoot({ store: memoryStore(), partitions })];
    const builder = Test.createTestingModule({ imports, providers: [Devices] });
    const compiled = await builder.overrideProvider(getRolePartitionToken('devices')).useValue(fake).compile();
    const app = compiled.createNestApplication(adapterOf(platform), { logger: false });
    onTestFinished(() => app.close());
    await app.init();
    expect(app.get(Devices).partition).toBe(fake);
  });
});

describe('a Leasehold that is given', () => {
  test('takes part with the application, and its partitions stop with it', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    const app = await createApp('express', {
      imports: [LeaseholdModule.forRoot({ leasehold, partitions })],
      providers: [Devices],
    });
    await app.init();
    await expect.poll(() => app.get(Devices).partition.isHeld('device-42')).toBe(true);
    await app.close();
    expect(leasehold.getPartition('devices').resolve('device-42').state).toBe('stopped');
  });

  test('serves two applications, one after the other, that declare the same', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    await leasehold.start();
    onTestFinished(() => leasehold.stop());
    for (let i = 0; i < 2; i++) {
      const forRoot = LeaseholdModule.forRoot({ leasehold, partitions });
      const app = await createApp('express', { imports: [forRoot], providers: [Devices] });
      await app.init();
      expect(app.get(Devices).partition).toBe(leasehold.getPartition('devices'));
      await app.close();
    }
  });

  test('that has the partition already, by hand', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    leasehold.partition('devices', { count: 4 });
    const created = createApp('express', { imports: [LeaseholdModule.forRoot({ leasehold, partitions })] });
    expect(await codeOf(created)).toBe('LEASEHOLD_DUPLICATE_ROLE');
    expect(rolesOf(leasehold)).toEqual(DEVICES);
  });
});

test('without HTTP: an application context has partitions too', async () => {
  const forRoot = LeaseholdModule.forRoot({ store: memoryStore() });
  const app = await NestFactory.createApplicationContext({ module: DeviceModule, imports: [forRoot] }, { logger: false });
  onTestFinished(() => app.close());
  await expect.poll(() => app.get(Devices, { strict: false }).partition.isHeld('device-42')).toBe(true);
});

describe('refused', () => {
  const start = (...imports: DynamicModule[]): Promise<unknown> => createApp('express', { imports });

  test.each<[string, LeaseholdErrorCode, Record<string, unknown>]>([
    ['no role', 'LEASEHOLD_INVALID_OPTION', { count: 0 }],
    ['more than there may be', 'LEASEHOLD_INVALID_OPTION', { count: 4_097 }],
    ['half a role', 'LEASEHOLD_INVALID_OPTION', { count: 1.5 }],
    ['no count', 'LEASEHOLD_INVALID_OPTION', {}],
    ['another balance', 'LEASEHOLD_INVALID_OPTION', { count: 4, balance: 'even' }],
    ['a misspelt option', 'LEASEHOLD_INVALID_OPTION', { count: 4, maxHolt: '1h' }],
    ['a duration', 'LEASEHOLD_INVALID_DURATION', { count: 4, leaseDuration: '15 seconds' }],
    ['a timing', 'LEASEHOLD_INVALID_TIMING', { count: 4, leaseDuration: '2s', renewInterval: '2s' }],
  ])('%s: %s, and nothing of it is registered', async (_what, code, options) => {
    const leasehold = createLeasehold({ store: memoryStore() });
    const given = { leasehold, partitions: { devices: options as unknown as PartitionOptions } };
    expect(await codeOf(start(LeaseholdModule.forRoot(given)))).toBe(code);
    expect(rolesOf(leasehold)).toEqual([]);
  });

  test.each([7, ['devices'], 'devices', null, new Map([['devices', { count: 4 }]]), { devices: 4 }, { devices: undefined }])(
    'partitions that are none, at once: %j',
    (wrong) => {
      const make = (): unknown => LeaseholdModule.forRoot({ partitions: wrong as never });
      expect(make).toThrow(expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION' }));
      expect(make).toThrow(/^partitions/);
    },
  );

  test('a name that cannot be', async () => {
    const options: LeaseholdModuleOptions = { store: memoryStore(), partitions: { '': { count: 2 } } };
    expect(await codeOf(start(LeaseholdModule.forRoot(options)))).toBe('LEASEHOLD_INVALID_ROLE');
  });

  test.each([
    ['another count', { count: 8, balance: 'fair' }],
    ['another balance', { count: 4 }],
    ['an option more', { count: 4, balance: 'fair', maxHold: '1h' }],
  ] as const)('the same partition with %s elsewhere', async (_, options) => {
    const root = LeaseholdModule.forRoot({ store: memoryStore(), partitions });
    const created = start(root, LeaseholdModule.forFeature({ partitions: { devices: options } }));
    await expect(created).rejects.toMatchObject({
      code: 'LEASEHOLD_DUPLICATE_ROLE',
      role: 'devices',
      message: expect.stringContaining('options that differ'),
    });
  });

  test.each([
    ['in one module', [{ roles: ['devices:partition-3'], partitions }]],
    ['the role in another module', [{ roles: ['devices:partition-3'] }, { partitions }]],
    ['the partition in another module', [{ partitions }, { roles: ['devices:partition-3'] }]],
    ['the role with options', [{ partitions }, { roles: [{ name: 'devices:partition-3', maxHold: '1h' }] }]],
  ])('a role with the name of one of a partition: %s', async (_, features) => {
    const leasehold = createLeasehold({ store: memoryStore() });
    const modules = features.map((feature) => LeaseholdModule.forFeature(feature as never));
    expect(await codeOf(start(LeaseholdModule.forRoot({ leasehold }), ...modules))).toBe('LEASEHOLD_DUPLICATE_ROLE');
  });

  test('partitions from the factory, which come too late', async () => {
    const created = start(LeaseholdModule.forRootAsync({ useFactory: () => ({ store: memoryStore(), partitions }) }));
    await expect(created).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_OPTION', option: 'partitions' });
  });

  test('a partition that no module declares', async () => {
    class Needy {
      readonly partition: RolePartition;
      constructor(@Inject(getRolePartitionToken('unnamed')) partition: RolePartition) {
        this.partition = partition;
      }
    }
    const app = createApp('express', { imports: [LeaseholdModule.forRoot({ store: memoryStore() })], providers: [Needy] });
    await expect(app).rejects.toThrow('leasehold:role-partition:unnamed');
  });
});
