import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/database.ts';
import { callWithin, instance, instanceOn, openStore } from '../support/postgres-lease.ts';

const TIMING = { leaseDuration: '2s', renewInterval: '500ms', safetyMargin: '300ms' } as const;

describe('a duration that somebody shortened on the row', () => {
  test.for([0, 400])('to %d ms: the holder believes no longer than its row is kept', async (leaseMs, { database }) => {
    const [a, b] = [instanceOn(database, TIMING), instanceOn(database, TIMING)];
    const [held, candidate] = [a.role('r'), b.role('r')];
    await a.start();
    await b.start();
    expect([held.isHeld, candidate.isHeld]).toEqual([true, false]);
    await database.query(`update ${database.schema}.role_lease set lease_ms = ${leaseMs}`);
    // Each takes over from the other for as long as this lasts: a moment at which both believe is the failure.
    const overlaps: unknown[] = [];
    const until = performance.now() + 4_000;
    while (performance.now() < until) {
      if (held.isHeld && candidate.isHeld) overlaps.push([held.fencingToken, candidate.fencingToken]);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(overlaps).toEqual([]);
    // The next term has the duration of its holder again.
    const [row] = await database.query(`select lease_ms from ${database.schema}.role_lease`);
    expect(row).toEqual({ lease_ms: 2_000 });
    expect([held, candidate].filter(({ isHeld }) => isHeld)).toHaveLength(1);
  });
});

test('a renewal never moves an expiry back, even if its own reply is lost', async ({ database }) => {
  const store = await openStore(database, 'a');
  const request = { instance: instance('a'), instanceTtlMs: 60_000, renew: [], acquire: [], observe: [] };
  await store.heartbeat({ ...request, acquire: [{ role: 'r', leaseMs: 60_000, tokenFloor: 0n }] }, callWithin(5_000));
  await database.query(`update ${database.schema}.role_lease set lease_ms = 0`);
  const { roles } = await store.heartbeat({ ...request, renew: [{ role: 'r', fencingToken: 1n }] }, callWithin(5_000));
  expect(roles).toEqual([expect.objectContaining({ outcome: 'renewed', remainingMs: expect.closeTo(60_000, -4) })]);
});
