import type { Leasehold } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { installPartitionHolderProxy, LeaseholdModule, LEASEHOLD } from '@leasehold/nestjs';
import type { PartitionLeasehold } from '@leasehold/proxy';
import type { INestApplication } from '@nestjs/common';
import { describe, expect, test } from 'vitest';
import { createApp, leaseholdOf, leaseOf, type Platform, platforms } from './support/apps.ts';
import { WhoController } from './support/controllers.ts';

const ROLES = ['devices-0', 'devices-1'] as const;

/** A partition as an application may make it of its roles: keys of even length belong to the first. */
const partitionOf = (leasehold: Leasehold): PartitionLeasehold => ({
  get instance() {
    return leasehold.instance;
  },
  getPartition: () => ({ resolve: (...key: string[]) => leasehold.get(ROLES[key.join('').length % 2 === 0 ? 0 : 1]) }),
});

async function startCopy(platform: Platform, database: MemoryDatabase, label: string): Promise<INestApplication> {
  const store = memoryStore({ database });
  const forRoot = LeaseholdModule.forRoot({ store, instance: { label }, leaseDuration: '2s', roles: ROLES });
  const app = await createApp(platform, { imports: [forRoot], controllers: [WhoController] });
  installPartitionHolderProxy(app, {
    leasehold: partitionOf(app.get(LEASEHOLD)),
    partition: 'devices',
    affinityKey: ({ headers }) => headers['x-device-id'],
    prefixes: ['/maintenance'],
  });
  await app.listen(0, '127.0.0.1');
  return app;
}

async function ask(app: INestApplication, device?: string): Promise<{ status: number; body: unknown }> {
  const headers = device === undefined ? {} : { 'x-device-id': device };
  const answer = await fetch(`${await app.getUrl()}/maintenance/who`, { headers });
  return { status: answer.status, body: await answer.json() };
}

describe.each(platforms)('on %s', (platform) => {
  test('the key of a request says which copy answers it; without a key: 400', async () => {
    const database = new MemoryDatabase();
    const first = await startCopy(platform, database, 'first');
    const second = await startCopy(platform, database, 'second');
    await leaseOf(first, 'devices-1').stepDown({ standAside: 'until-told' });
    await expect.poll(() => leaseOf(second, 'devices-1').isHeld).toBe(true);
    await expect.poll(() => leaseOf(first, 'devices-1').currentHolderAddress).toBe(await second.getUrl());
    await expect.poll(() => leaseOf(second, 'devices-0').currentHolderAddress).toBe(await first.getUrl());
    for (const app of [first, second]) {
      expect(await ask(app, 'even')).toEqual({ status: 200, body: { by: 'first' } });
      expect(await ask(app, 'odd')).toEqual({ status: 200, body: { by: 'second' } });
      expect((await ask(app)).status).toBe(400);
    }
  });

  test('what has no partitions is refused', async () => {
    const app = await createApp(platform, { imports: [LeaseholdModule.forRoot({ store: memoryStore() })] });
    const leasehold = { instance: leaseholdOf(app).instance } as never;
    const options = { leasehold, partition: 'devices', affinityKey: () => 'key', prefixes: ['/devices'] };
    const install = (): void => installPartitionHolderProxy(app, options);
    expect(install).toThrow(expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', option: 'leasehold' }));
  });

  test('without the module', async () => {
    const app = await createApp(platform, {});
    const options = { leasehold: {} as never, partition: 'devices', affinityKey: () => 'key', prefixes: ['/devices'] };
    const install = (): void => installPartitionHolderProxy(app, options);
    expect(install).toThrow(expect.objectContaining({ code: 'LEASEHOLD_NOT_REGISTERED', option: 'app' }));
  });
});
