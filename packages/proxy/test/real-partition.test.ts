import { createLeasehold, type Leasehold, type RolePartition } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { expect, onTestFinished, test } from 'vitest';
import { partitionHolderProxy } from '../src/index.ts';
import { RawClient } from '../../../test/support/http/raw-client.ts';
import { httpServer, type TestServer } from '../../../test/support/http/servers.ts';

const COUNT = 16;
const KEYS = Array.from({ length: 200 }, (_, n) => `device-${n}`);

interface Copy {
  readonly leasehold: Leasehold;
  readonly devices: RolePartition;
  readonly server: TestServer;
}

/** One copy of an application: what is under /d goes to the owner of the device, under /o to that of the order; it says who it is. */
async function startCopy(label: string, database: MemoryDatabase): Promise<Copy> {
  const leasehold = createLeasehold({ store: memoryStore({ database }), instance: { label }, leaseDuration: '1s' });
  const devices = leasehold.partition('devices', { count: COUNT, balance: 'fair' });
  const key = (url: string | undefined): string | undefined => url?.split('/')[2];
  const proxies = [
    partitionHolderProxy(leasehold, { partition: 'devices', prefixes: ['/d'], affinityKey: ({ url }) => key(url) }),
    partitionHolderProxy(leasehold, {
      partition: 'devices',
      prefixes: ['/o'],
      scope: 'Order',
      affinityKey: ({ url }) => key(url),
    }),
  ] as const;
  const server = await httpServer((request, response) => {
    const [first, second] = proxies;
    first(request, response, () => second(request, response, () => response.end(label)));
  });
  leasehold.advertise(server.origin);
  onTestFinished(async () => {
    await leasehold.stop();
    for (const { proxy } of proxies) proxy.close();
  });
  await leasehold.start();
  return { leasehold, devices, server };
}

test('a request goes to the owner of its key, whichever copy takes it, with a scope and without', async () => {
  const database = new MemoryDatabase();
  const copies = [await startCopy('a', database), await startCopy('b', database)] as const;
  const [a, b] = copies;
  // Even, and each knows where the other is.
  const isSettled = ({ devices }: Copy): boolean =>
    devices.partitions.filter(({ isHeld }) => isHeld).length === COUNT / 2 &&
    devices.partitions.every(({ currentHolderAddress }) => currentHolderAddress !== null);
  await expect.poll(() => copies.every(isSettled), { timeout: 20_000 }).toBe(true);
  const clients = await Promise.all(copies.map(({ server }) => RawClient.connect(server.port)));
  const owners = new Set<string>();
  for (const key of KEYS) {
    for (const [path, role] of [
      [`/d/${key}`, a.devices.resolve(key).role],
      [`/o/${key}`, a.devices.resolve('Order', key).role],
    ] as const) {
      const owner = a.leasehold.get(role).isHeld ? 'a' : 'b';
      expect(b.leasehold.get(role).isHeld).toBe(owner === 'b');
      owners.add(owner);
      for (const client of clients) {
        const response = await client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).response();
        expect([response.status, response.text]).toEqual([200, owner]);
      }
    }
  }
  expect(owners.size).toBe(2);
  expect(KEYS.some((key) => a.devices.resolve(key) !== a.devices.resolve('Order', key))).toBe(true);
});

test('without a key there is no owner: 400', async () => {
  const { server } = await startCopy('a', new MemoryDatabase());
  const client = await RawClient.connect(server.port);
  const response = await client.send('GET /d/ HTTP/1.1\r\nHost: x\r\n\r\n').response();
  expect(response.status).toBe(400);
  expect(JSON.parse(response.text)).toMatchObject({ reason: 'affinity-key-missing' });
});
