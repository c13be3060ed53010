import type { RolePartition } from '@leasehold/core';
import {
  getRolePartitionToken,
  installPartitionHolderProxy,
  LeaseholdModule,
  RequirePartition,
  WhileHeld,
} from '@leasehold/nestjs';
import { Controller, Get, type INestApplication, Injectable } from '@nestjs/common';
import { describe, expect } from 'vitest';
import { test, type TestDatabase } from '../../../test/support/database.ts';
import { createApp, leaseholdOf, type Platform, platforms } from './support/apps.ts';

interface Routed {
  readonly params: { readonly id: string };
}

@Injectable()
class Poller {
  @WhileHeld('devices', (id: string) => id)
  async poll(id: string): Promise<string | undefined> {
    return id;
  }
}

@Controller()
class DeviceController {
  @Get('devices/:id')
  device(): string {
    return 'forwarded';
  }

  @Get('local/:id')
  @RequirePartition('devices', ({ params }: Routed) => params.id)
  local(): string {
    return 'local';
  }
}

/** Hands over at once, and loses nothing on a machine that is busy with something else. */
const TIMING = { leaseDuration: '20s', renewInterval: '250ms' } as const;

interface Start {
  readonly label: string;
  readonly count?: number;
}

async function start(platform: Platform, database: TestDatabase, { label, count = 8 }: Start): Promise<INestApplication> {
  const { connectionString, schema } = database;
  const settings = { connectionString, schema, instance: { label }, ...TIMING } as const;
  const partitions = { devices: { count, balance: 'fair' } } as const;
  const app = await createApp(platform, {
    imports: [LeaseholdModule.forRoot(settings), LeaseholdModule.forFeature({ partitions })],
    providers: [Poller],
    controllers: [DeviceController],
  });
  const affinityKey = ({ url = '' }: { url?: string | undefined }): string | undefined => url.split('/').at(2);
  installPartitionHolderProxy(app, { partition: 'devices', affinityKey, prefixes: ['/devices'], instanceHeader: 'X-By' });
  await app.listen(0, '127.0.0.1');
  return app;
}

const partitionOf = (app: INestApplication): RolePartition =>
  app.get<RolePartition>(getRolePartitionToken('devices'), { strict: false });
const held = (app: INestApplication): number => leaseholdOf(app).leases.heldRoles().length;
const knowsAll = (app: INestApplication): boolean =>
  partitionOf(app).partitions.every(({ isHeld, currentHolderAddress }) => isHeld || currentHolderAddress !== null);

describe.each(platforms)('on %s', (platform) => {
  test('two copies share the roles, and each key belongs to its owner', async ({ database }) => {
    const first = await start(platform, database, { label: 'first' });
    expect(held(first)).toBe(8);
    const second = await start(platform, database, { label: 'second' });
    await expect.poll(() => [held(first), held(second)], { timeout: 20_000 }).toEqual([4, 4]);
    await expect.poll(() => [knowsAll(first), knowsAll(second)]).toEqual([true, true]);
    const owners = new Set<INestApplication>();
    for (const key of Array.from({ length: 12 }, (_, index) => `device-${index}`)) {
      const [owner, other] = partitionOf(first).isHeld(key) ? [first, second] : [second, first];
      owners.add(owner);
      const { id } = leaseholdOf(owner).instance;
      for (const app of [owner, other]) {
        expect((await fetch(`${await app.getUrl()}/devices/${key}`)).headers.get('x-by')).toBe(id);
      }
      const guarded = [await fetch(`${await owner.getUrl()}/local/${key}`), await fetch(`${await other.getUrl()}/local/${key}`)];
      expect(guarded.map(({ status }) => status)).toEqual([200, 503]);
      expect([await owner.get(Poller).poll(key), await other.get(Poller).poll(key)]).toEqual([key, undefined]);
    }
    expect(owners.size).toBe(2);
  }, 60_000);
});

test('a copy with another count does not come up', async ({ database }) => {
  await start('express', database, { label: 'first' });
  const second = start('express', database, { label: 'second', count: 16 });
  await expect(second).rejects.toMatchObject({ code: 'LEASEHOLD_PARTITION_COUNT' });
});
