import { memoryStore } from '@leasehold/core/memory';
import {
  getRoleLeaseToken,
  getRolePartitionToken,
  InjectLeasehold,
  LeaseholdModule,
  RequirePartition,
  RequireRole,
  WhileHeld,
} from '@leasehold/nestjs';
import type { Leasehold } from '@leasehold/core';
import { Controller, Get, Injectable, type ModuleMetadata, type OnModuleInit, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { adapterOf, createApp, leaseholdOf, platforms } from './support/apps.ts';

const forRoot = (): ModuleMetadata['imports'] => [
  LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance'], partitions: { devices: { count: 4 } } }),
];

@Injectable()
class Misspelt {
  @WhileHeld('maintenance')
  async right(): Promise<void> {}

  @WhileHeld('maintenanc')
  async nightly(): Promise<void> {}
}

@Injectable()
class Extending extends Misspelt {}

@Injectable()
class Overriding extends Misspelt {
  override async nightly(): Promise<void> {}
}

@Injectable()
class MisspeltKey {
  @WhileHeld('device', (id: string) => id)
  async poll(id: string): Promise<void> {
    void id;
  }
}

@Controller('a')
@RequireRole('maintenanc')
class MisspeltController {
  @Get()
  get(): string {
    return 'ran';
  }
}

@Controller('a')
class MisspeltHandlers {
  @Get()
  @RequirePartition('device', () => 'key')
  get(): string {
    return 'ran';
  }
}

@Controller('a')
class RoleForPartition {
  @Get()
  @RequireRole('devices')
  get(): string {
    return 'ran';
  }
}

describe.each(platforms)('on %s', (platform) => {
  test.each<[string, string, Type[], Type[]]>([
    ["@WhileHeld('maintenanc') on Misspelt.nightly() names a role", 'maintenanc', [Misspelt], []],
    ["@WhileHeld('maintenanc') on Misspelt.nightly() names a role", 'maintenanc', [Extending], []],
    ["@WhileHeld('device') on MisspeltKey.poll() names a partition", 'device', [MisspeltKey], []],
    ["@RequireRole('maintenanc') on MisspeltController names a role", 'maintenanc', [], [MisspeltController]],
    ["@RequirePartition('device') on MisspeltHandlers.get() names a partition", 'device', [], [MisspeltHandlers]],
    ["@RequireRole('devices') on RoleForPartition.get() names a role", 'devices', [], [RoleForPartition]],
  ])('app.init() rejects, and nothing competes: %s', async (message, role, providers, controllers) => {
    const app = await createApp(platform, { imports: forRoot() ?? [], providers, controllers });
    await expect(app.init()).rejects.toMatchObject({
      code: 'LEASEHOLD_UNKNOWN_ROLE',
      role,
      message: expect.stringContaining(message),
    });
    expect(leaseholdOf(app).leases.heldRoles()).toEqual([]);
  });
});

test('in a module that is imported, and only where the class is in use', async () => {
  class InnerModule {}
  const inner = { module: InnerModule, providers: [Misspelt] };
  const app = await createApp('express', { imports: [...(forRoot() ?? []), inner] });
  await expect(app.init()).rejects.toMatchObject({ code: 'LEASEHOLD_UNKNOWN_ROLE' });
  const other = await createApp('express', { imports: forRoot() ?? [] });
  await expect(other.init()).resolves.toBeDefined();
});

test('a method that is overridden is not called any more', async () => {
  const app = await createApp('express', { imports: forRoot() ?? [], providers: [Overriding] });
  await expect(app.init()).resolves.toBeDefined();
});

test('a value in place of the class runs nothing of it', async () => {
  const providers = [{ provide: Misspelt, useValue: {} }];
  const app = await createApp('express', { imports: forRoot() ?? [], providers });
  await expect(app.init()).resolves.toBeDefined();
});

test('what a module registers by hand until onModuleInit is known', async () => {
  @Injectable()
  class ByHand implements OnModuleInit {
    readonly #leasehold: Leasehold;

    constructor(@InjectLeasehold() leasehold: Leasehold) {
      this.#leasehold = leasehold;
    }

    onModuleInit(): void {
      this.#leasehold.role('maintenanc');
      this.#leasehold.partition('device', { count: 2 });
    }
  }
  const app = await createApp('express', { imports: forRoot() ?? [], providers: [Misspelt, MisspeltKey, ByHand] });
  await expect(app.init()).resolves.toBeDefined();
});

test('in tests: a lease that is put in place of a role is one', async () => {
  const imports = [
    LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance', 'maintenanc'], partitions: { device: { count: 2 } } }),
  ];
  const builder = Test.createTestingModule({ imports, providers: [Misspelt, MisspeltKey] });
  builder.overrideProvider(getRoleLeaseToken('maintenanc')).useValue({ isHeld: true });
  builder.overrideProvider(getRolePartitionToken('device')).useValue({});
  const app = (await builder.compile()).createNestApplication(adapterOf('express'), { logger: false });
  onTestFinished(() => app.close());
  await expect(app.init()).resolves.toBeDefined();
});
