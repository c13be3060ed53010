import { createLeasehold } from '@leasehold/core';
import { actorHome } from '@leasehold/core/actors';
import { memoryStore } from '@leasehold/core/memory';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { Fifo } from '../../src/actors/fifo.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What is still alive of all that was watched, after every turn that there is. */
async function alive(watched: readonly WeakRef<object>[]): Promise<number> {
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  return watched.filter((ref) => ref.deref() !== undefined).length;
}

it.each([{}, { shards: 16 }])('nothing of a key stays once it is idle (%o)', async (options) => {
  const leasehold = createLeasehold({ store: memoryStore() });
  const home = actorHome(leasehold, options);
  const watched: WeakRef<object>[] = [];
  // The context is made for the turn, and the message is in the mailbox: whichever of them is kept is seen.
  home.actor('Order', {
    handle: (message, context) => {
      watched.push(new WeakRef(message as object), new WeakRef(context));
    },
  });
  home.actor('Idle', { handle: () => {} });
  await leasehold.start();
  await expect.poll(() => leasehold.leases.heldRoles().length).toBe(leasehold.leases.size);
  onTestFinished(() => leasehold.stop());
  for (let n = 0; n < 10_000; n += 1) home.tell('Order', `order-${n}`, { n });
  await home.ask('Order', 'last', {});
  await expect.poll(() => alive(watched)).toBeLessThan(10);
  expect(watched.length).toBe(20_002);
  watched.length = 0;
  const before = heapAfterCollection();
  for (let n = 0; n < 50_000; n += 1) {
    home.tell('Idle', `another-${n}-${'x'.repeat(200)}`, null);
    if (n % 1_000 === 0) await home.ask('Idle', 'last', null);
  }
  await home.ask('Idle', 'last', null);
  // Their keys alone would be 10 MB, and the mailboxes as much again.
  await expect.poll(() => heapAfterCollection() - before).toBeLessThan(5_000_000);
});

function heapAfterCollection(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

it('a queue gives back in the order in which it took, and keeps nothing that it gave', async () => {
  const queue = new Fifo<object>();
  const watched: WeakRef<object>[] = [];
  let [given, taken] = [0, 0];
  for (let round = 0; round < 5_000; round += 1) {
    for (let n = 0; n < 3; n += 1) queue.push({ n: given++ });
    for (let n = 0; n < 2; n += 1) {
      const item = queue.shift() as { readonly n: number };
      if (item.n !== taken++) throw new Error(`${item.n} came in place of ${taken - 1}`);
      watched.push(new WeakRef(item));
    }
  }
  expect(queue.size).toBe(given - taken);
  await expect.poll(() => alive(watched)).toBeLessThan(10);
  expect(queue.takeAll().map((item) => (item as { readonly n: number }).n)).toEqual(
    Array.from({ length: given - taken }, (_, n) => taken + n),
  );
  expect([queue.size, queue.shift()]).toEqual([0, undefined]);
});
