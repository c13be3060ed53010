import { createLeasehold, isLeaseholdError, type Leasehold } from '@leasehold/core';
import { actorHome, type ActorHome, type ActorHomeOptions } from '@leasehold/core/actors';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { expect, onTestFinished, test } from 'vitest';
import { partitionHolderProxy, roleHolderProxy } from '../src/index.ts';
import { RawClient } from '../../../test/support/http/raw-client.ts';
import { httpServer, type TestServer } from '../../../test/support/http/servers.ts';

const SHARDS = 8;
const KEYS = Array.from({ length: 40 }, (_, n) => `order-${n}`);

interface Actors {
  Order: (message: 'add') => { readonly home: string; readonly count: number };
}

interface Copy {
  readonly leasehold: Leasehold;
  readonly home: ActorHome<Actors>;
  readonly server: TestServer;
}

const keyOf = (url: string | undefined): string | undefined => url?.split('/')[2];

/** One copy of a shop: a request under /orders is a message to the order, which counts in the memory of its home. */
async function startCopy(label: string, database: MemoryDatabase, options: ActorHomeOptions): Promise<Copy> {
  const leasehold = createLeasehold({ store: memoryStore({ database }), instance: { label }, leaseDuration: '1s' });
  const home = actorHome<Actors>(leasehold, options);
  const counts = new Map<string, number>();
  home.actor('Order', {
    handle(_, { key }) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return { home: label, count: counts.get(key) ?? 0 };
    },
  });
  const proxy =
    options.shards === undefined
      ? roleHolderProxy(leasehold, { role: 'actors', prefixes: ['/orders'] })
      : partitionHolderProxy(leasehold, {
          partition: 'actors',
          scope: 'Order',
          prefixes: ['/orders'],
          affinityKey: ({ url }) => keyOf(url),
        });
  const server = await httpServer((request, response) => {
    proxy(request, response, () => {
      const answer = home.ask('Order', keyOf(request.url) ?? '', 'add');
      answer.then(
        (value) => response.end(JSON.stringify(value)),
        (error: unknown) => {
          response.statusCode = isLeaseholdError(error, 'LEASEHOLD_NOT_HOME') ? 503 : 500;
          response.end();
        },
      );
    });
  });
  leasehold.advertise(server.origin);
  onTestFinished(async () => {
    await leasehold.stop();
    proxy.proxy.close();
  });
  await leasehold.start();
  return { leasehold, home, server };
}

test.for([{}, { shards: SHARDS, balance: 'fair' as const }])(
  'a request reaches the home of its actor, whichever copy takes it (%o)',
  async (options) => {
    const database = new MemoryDatabase();
    const copies = [await startCopy('a', database, options), await startCopy('b', database, options)] as const;
    const homes = options.shards === undefined ? ['a'] : ['a', 'b'];
    const isSettled = (): boolean => {
      const held = copies.map(({ leasehold }) => leasehold.leases.heldRoles().length);
      const isEven = options.shards === undefined ? held.join() === '1,0' : held.join() === `${SHARDS / 2},${SHARDS / 2}`;
      return (
        isEven && copies.every(({ leasehold }) => [...leasehold.leases].every((lease) => lease.currentHolderAddress !== null))
      );
    };
    await expect.poll(isSettled, { timeout: 20_000 }).toBe(true);
    const clients = await Promise.all(copies.map(({ server }) => RawClient.connect(server.port)));
    const seen = new Set<string>();
    for (const key of KEYS) {
      const told: unknown[] = [];
      for (const client of [...clients, ...clients]) {
        const response = await client.send(`POST /orders/${key} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`).response();
        expect(response.status).toBe(200);
        told.push(JSON.parse(response.text));
      }
      const { home } = told[0] as { readonly home: string };
      seen.add(home);
      expect(told).toEqual([1, 2, 3, 4].map((count) => ({ home, count })));
      const [there, elsewhere] = home === 'a' ? copies : [copies[1], copies[0]];
      await expect(elsewhere.home.ask('Order', key, 'add')).rejects.toMatchObject({
        code: 'LEASEHOLD_NOT_HOME',
        holder: there.leasehold.instance.id,
        address: there.server.origin,
      });
    }
    expect([...seen].toSorted()).toEqual(homes);
  },
);

test('after a stop the other copy is the home, and what the first had in memory is gone', async () => {
  const database = new MemoryDatabase();
  const copies = [await startCopy('a', database, {}), await startCopy('b', database, {})] as const;
  await expect.poll(() => copies[0].leasehold.get('actors').isHeld).toBe(true);
  expect(await copies[0].home.ask('Order', '7', 'add')).toEqual({ home: 'a', count: 1 });
  await copies[0].leasehold.stop();
  await expect.poll(() => copies[1].leasehold.get('actors').isHeld).toBe(true);
  const client = await RawClient.connect(copies[1].server.port);
  const response = await client.send('GET /orders/7 HTTP/1.1\r\nHost: x\r\n\r\n').response();
  expect(JSON.parse(response.text)).toEqual({ home: 'b', count: 1 });
});
