import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type PostgresServer, startPostgres } from '@leasehold/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ExampleCopies, type ExampleCopy } from '../../run/test/support/copies.ts';
import { KILL_POINTS, type KillPoint } from '../src/kill-point.ts';
import type { Order } from '../src/outbox.ts';
import { type Audit, audit } from '../src/show/audit.ts';

const EXAMPLE = { name: 'outbox', args: ['--conditions=@leasehold/source', 'src/server.ts'] };
/** A lease to run out, of the roles and of the envelopes, and a machine that is busy with something else. */
const PATIENCE_MS = 20_000;

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const anOrder = (): Order => ({ id: randomUUID(), item: 'book', quantity: 1 });

/** Null where the connection broke: nobody knows whether the order is there. */
async function place({ origin }: ExampleCopy, order: Order): Promise<number | null> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${origin}/orders`, { method: 'POST', headers, body: JSON.stringify(order) }).catch(() => null);
  return answer?.status ?? null;
}

async function untilHeld({ pool }: ExampleCopies, label: string): Promise<void> {
  const held = async (): Promise<number> => {
    const sql =
      "select count(*)::int as held from leasehold.role_lease where holder like $1 || '-%' and expires_at > clock_timestamp()";
    return (await pool.query<{ held: number }>(sql, [label])).rows[0]?.held ?? 0;
  };
  await expect.poll(held, { timeout: PATIENCE_MS }).toBe(2);
}

/** What has to be so in the end, whatever happened. */
const RIGHT = { notOnce: 0, undelivered: 0, withoutOrder: 0, byNonHolders: 0, wrongTerms: 0 } satisfies Partial<Audit>;

async function untilRight({ pool }: ExampleCopies, orders: number): Promise<Audit> {
  const undelivered = async (): Promise<number> => (await audit(pool)).undelivered;
  await expect.poll(undelivered, { timeout: PATIENCE_MS, interval: 100 }).toBe(0);
  const found = await audit(pool);
  expect(found).toMatchObject({ ...RIGHT, orders, effects: 3 * orders });
  return found;
}

/** What goes on after the first process was killed: another one that was there, or the same one, started again. */
type Successor = 'another process' | 'the same one again';

const AGAIN = ['outbox:after-claim', 'billing:after-effect', 'billing:in-finalize', 'shipping:after-effect'] as const;
const CASES: readonly (readonly [KillPoint, Successor])[] = [
  ...KILL_POINTS.map((killPoint) => [killPoint, 'another process'] as const),
  ...AGAIN.map((killPoint) => [killPoint, 'the same one again'] as const),
];

test.each(CASES)('a process that dies at %s loses nothing and repeats no effect: %s goes on', async (killPoint, successor) => {
  const copies = await ExampleCopies.on(postgres, EXAMPLE);
  const first = await copies.start('first', '0', { KILL_AT: killPoint });
  const killed = once(first.process, 'exit');
  await untilHeld(copies, 'first');
  const other = successor === 'another process' ? await copies.start('other') : null;

  const orders = Array.from({ length: 3 }, anOrder);
  const answers = await Promise.all(orders.map((order) => place(first, order)));
  // It died there, and not of anything else.
  expect(await killed, first.output()).toEqual([null, 'SIGKILL']);
  if (killPoint.startsWith('order:')) expect(answers).toContain(null);

  const survivor = other ?? (await copies.start('first'));
  // What has no answer is sent again, by whoever wants to be sure, all of it.
  for (const order of orders) expect(await place(survivor, order)).toBeOneOf([200, 201]);
  const { repeats } = await untilRight(copies, orders.length);
  if (killPoint === 'shipping:after-effect') expect(repeats).toBeGreaterThan(0);
});

test.each([
  ['order:before-commit', { orders: 0, undelivered: 0 }],
  ['order:after-commit', { orders: 1, undelivered: 3 }],
] as const)('at %s there is the order with all its envelopes, or none of them', async (killPoint, expected) => {
  const copies = await ExampleCopies.on(postgres, EXAMPLE);
  // It holds the roles, so that nobody delivers after it is gone.
  const first = await copies.start('first', '0', { KILL_AT: killPoint });
  const killed = once(first.process, 'exit');
  await untilHeld(copies, 'first');
  const order = anOrder();
  expect(await place(first, order)).toBeNull();
  await killed;
  const found = await audit(copies.pool);
  expect({ orders: found.orders, undelivered: found.undelivered + found.effects }).toEqual(expected);
  const again = await copies.start('again');
  expect(await place(again, order)).toBe(expected.orders === 0 ? 201 : 200);
  await untilRight(copies, 1);
});
