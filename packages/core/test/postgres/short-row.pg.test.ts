import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/database.ts';
import { instanceOn } from '../support/postgres-lease.ts';

const TIMING = { leaseDuration: '6s', renewInterval: '500ms', safetyMargin: '500ms' } as const;

describe('a duration that somebody shortened on the row', () => {
  test.for([0, 700])('to %d ms: the holder believes no longer than its row is kept', async (leaseMs, { database }) => {
    const [a, b] = [instanceOn(database, TIMING), instanceOn(database, TIMING)];
    const [held, candidate] = [a.role('r'), b.role('r')];
    await a.start();
    await b.start();
    expect([held.isHeld, candidate.isHeld]).toEqual([true, false]);
    await database.query(`update ${database.schema}.role_lease set lease_ms = ${leaseMs}`);
    // Each takes over from the other for as long as this lasts: a moment at which both believe is the failure.
    const overlaps: unknown[] = [];
    const until = performance.now() + 3_000;
    while (performance.now() < until) {
      if (held.isHeld && candidate.isHeld) overlaps.push([held.fencingToken, candidate.fencingToken]);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(overlaps).toEqual([]);
    // The next term has the duration of its holder again.
    const [row] = await database.query(`select lease_ms from ${database.schema}.role_lease`);
    expect(row).toEqual({ lease_ms: 6_000 });
    expect([held, candidate].filter(({ isHeld }) => isHeld)).toHaveLength(1);
  });
});
