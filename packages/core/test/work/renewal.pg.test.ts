import { describe, expect } from 'vitest';
import type { Claim, ClaimOptions } from '@leasehold/core/work';
import { manualClock, type ManualClock } from '../../../testing/src/index.ts';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { createDeliveries, deliveriesOf, type Delivery, endLeases, rowsOf } from './support/deliveries.ts';

const reason = (code: string): unknown => expect.objectContaining({ code });

interface Held {
  readonly claim: Claim<Delivery>;
  readonly clock: ManualClock;
  /** Milliseconds that the lease of each row has left by the database's clock. */
  leases(): Promise<number[]>;
  /** Lets time pass, and waits for the statements that this has set going. */
  pass(ms: number): Promise<void>;
}

/** Rows claimed for a minute, with a safety margin of six seconds, over a clock that stands still. */
async function heldRows(database: TestDatabase, rows: number, options: ClaimOptions = {}): Promise<Held> {
  await createDeliveries(database, rows);
  const clock = manualClock();
  let underWay = 0;
  const query = async (text: string, values?: unknown[]): Promise<{ rows: unknown[] }> => {
    underWay += 1;
    return database.pool.query(text, values).finally(() => (underWay -= 1));
  };
  const claim = await deliveriesOf(database, { clock }).claim({ query }, { limit: Math.max(rows, 1), lease: '1m', ...options });
  const pass = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    await expect.poll(() => underWay).toBe(0);
    await clock.advance(0);
  };
  return { claim, clock, leases: () => leasesOf(database), pass };
}

async function leasesOf({ query, schema }: TestDatabase): Promise<number[]> {
  const rows = await query<{ left: number }>(
    `select extract(epoch from locked_until - clock_timestamp())::float8 * 1000 as left from ${schema}.deliveries order by id`,
  );
  return rows.map(({ left }) => left);
}

/** Lets the row's lease end in `ms`, so that a renewal shows. */
function shorten({ query, schema }: TestDatabase, ms: number): Promise<unknown> {
  return query(`update ${schema}.deliveries set locked_until = clock_timestamp() + $1 * interval '1 ms'`, [ms]);
}

describe('automatic renewal', () => {
  test('holds the rows over five leases', async ({ database }) => {
    const { claim, pass, leases } = await heldRows(database, 2, { autoRenew: true });
    for (let third = 0; third < 15; third += 1) {
      await shorten(database, 5_000);
      await pass(20_000);
      expect((await leases()).every((left) => left > 50_000)).toBe(true);
      expect(claim.timeLeftMs).toBeGreaterThan(53_000);
    }
    expect([claim.signal.aborted, claim.signalOf('1').aborted]).toEqual([false, false]);
    claim.close();
  });

  test('passes by a row that somebody has locked, and is back for it soon', async ({ database }) => {
    const { claim, pass, leases } = await heldRows(database, 2, { autoRenew: true });
    const application = await database.pool.connect();
    await shorten(database, 5_000);
    await application.query(`begin; select from ${database.schema}.deliveries where id = 1 for update`);
    await pass(20_000);
    expect((await leases()).map((left) => left > 50_000)).toEqual([false, true]);
    await application.query('commit');
    application.release();
    await pass(1_000);
    expect((await leases())[0]).toBeGreaterThan(50_000);
    claim.close();
  });

  test('goes on for the others when one row stayed locked past its lease', async ({ database }) => {
    const { claim, pass, leases } = await heldRows(database, 2, { autoRenew: true });
    const signals = [claim.signalOf('1'), claim.signalOf('2')];
    const application = await database.pool.connect();
    await application.query(`begin; select from ${database.schema}.deliveries where id = 1 for update`);
    for (let second = 0; second < 60; second += 1) await pass(1_000);
    expect([claim.signal.aborted, ...signals.map(({ aborted }) => aborted)]).toEqual([true, true, false]);
    await application.query('commit');
    application.release();
    await shorten(database, 5_000);
    await pass(20_000);
    // The work on the first was told to stop: nobody is kept from it any longer.
    expect((await leases()).map((left) => left > 50_000)).toEqual([false, true]);
    expect(signals[1]?.aborted).toBe(false);
    claim.close();
  });

  test('tries again soon after a failure, and gives up with the lease', async ({ database }) => {
    const { claim, clock, pass } = await heldRows(database, 1, { autoRenew: true });
    await database.query(`alter table ${database.schema}.deliveries rename to elsewhere`);
    const signal = claim.signalOf('1');
    await pass(20_000);
    for (let ms = 20_000; ms < 54_000; ms += 1_000) {
      expect([clock.pendingTimers, signal.aborted]).toEqual([2, false]);
      await pass(1_000);
    }
    expect([signal.aborted, claim.signal.reason]).toEqual([true, reason('LEASEHOLD_LEASE_ENDING')]);
    await pass(1_000);
    expect(clock.pendingTimers).toBe(0);
    await database.query(`alter table ${database.schema}.elsewhere rename to deliveries`);
  });
});

describe('a renewal by hand', () => {
  test('prolongs the lease and belief in it', async ({ database }) => {
    const { claim, clock, leases } = await heldRows(database, 1);
    expect(await claim.renew('5m')).toEqual([]);
    expect((await leases())[0]).toBeGreaterThan(290_000);
    expect([claim.leaseMs, claim.timeLeftMs]).toEqual([300_000, 294_000]);
    await clock.advance(293_999);
    expect(claim.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(claim.signal.aborted).toBe(true);
  });

  test('of a shorter lease shortens neither the lease nor belief', async ({ database }) => {
    const { claim, clock, leases } = await heldRows(database, 1);
    await claim.renew('1s');
    expect((await leases())[0]).toBeGreaterThan(50_000);
    expect([claim.leaseMs, claim.timeLeftMs]).toEqual([1_000, 54_000]);
    clock.jump(53_800);
    await endLeases(database);
    await claim.renew();
    // With a margin that leaves room, though that of the claim was longer than this lease.
    expect(claim.timeLeftMs).toBe(500);
    expect((await leases())[0]).toBeLessThan(1_001);
    claim.close();
  });

  test('names the rows that it finds lost, and aborts their signals alone, once', async ({ database }) => {
    const { claim } = await heldRows(database, 3);
    const aborted: string[] = [];
    for (const { id } of claim.rows) claim.signalOf(id).addEventListener('abort', () => aborted.push(id));
    await database.query(`update ${database.schema}.deliveries set lock_id = gen_random_uuid() where id = 1`);
    await database.query(`delete from ${database.schema}.deliveries where id = 3`);
    expect((await claim.renew()).map(({ id }) => id)).toEqual(['1', '3']);
    expect(await claim.renew()).toEqual([]);
    expect([aborted, claim.signal.aborted]).toEqual([['1', '3'], false]);
    expect(claim.signalOf('1').reason).toEqual(reason('LEASEHOLD_ROW_LOST'));
    expect(await claim.finalize('2')).toBe('done');
  });

  test('that finds all rows lost aborts the claim and ends its timers', async ({ database }) => {
    const { claim, clock } = await heldRows(database, 2, { autoRenew: true });
    await database.query(`update ${database.schema}.deliveries set lock_id = gen_random_uuid()`);
    expect(await claim.renew()).toHaveLength(2);
    expect([claim.signal.reason, claim.timeLeftMs]).toEqual([reason('LEASEHOLD_ROW_LOST'), 0]);
    await clock.advance(60_000);
    expect(clock.pendingTimers).toBe(0);
  });

  test('after everything is settled asks nothing, and aborts nothing', async ({ database }) => {
    const { claim, clock } = await heldRows(database, 2, { autoRenew: true });
    await claim.settle(claim.rows.map((row) => ({ row, outcome: 'done' })));
    await database.query(`alter table ${database.schema}.deliveries rename to elsewhere`);
    expect(await claim.renew()).toEqual([]);
    expect([clock.pendingTimers, claim.signal.aborted]).toEqual([0, false]);
  });

  test('beside a settlement takes no row for lost that is being settled, though its answer comes first', async ({ database }) => {
    await createDeliveries(database, 2);
    const answered = Promise.withResolvers<void>();
    const query = async (text: string, values?: unknown[]): Promise<{ rows: unknown[] }> => {
      const answer = await database.pool.query(text, values);
      if (text.includes('leasehold_wrote')) await answered.promise;
      return answer;
    };
    const claim = await deliveriesOf(database).claim({ query });
    const signals = claim.rows.map((row) => claim.signalOf(row));
    const fates = claim.settle(claim.rows.map((row) => ({ row, outcome: 'release' })));
    await expect.poll(() => rowsOf(database)).toMatchObject([{ lock_id: null }, { lock_id: null }]);
    expect(await claim.renew()).toEqual([]);
    answered.resolve();
    expect(await fates).toEqual(['done', 'done']);
    expect([claim.signal, ...signals].map(({ aborted }) => aborted)).toEqual([false, false, false]);
  });

  test.for([['500ms'], ['25h'], [0], [-1], [Number.NaN], [null]])('of %s is refused', async ([lease], { database }) => {
    const { claim } = await heldRows(database, 1);
    await expect(claim.renew(lease as '1m')).rejects.toThrow(reason('LEASEHOLD_INVALID_DURATION'));
    claim.close();
  });
});

describe('time', () => {
  test('that a frozen process lost is seen before any timer, in the signals of claim and row', async ({ database }) => {
    const { claim, clock } = await heldRows(database, 1);
    const signals = [claim.signal, claim.signalOf('1')];
    clock.jump(53_999);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    clock.jump(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(() => claim.signalOf('1').throwIfAborted()).toThrow(reason('LEASEHOLD_LEASE_ENDING'));
    expect(claim.timeLeftMs).toBe(0);
  });

  test('is told without a signal too: before its end, at it, once it was given up, and once the row is settled', async ({
    database,
  }) => {
    const { claim, clock } = await heldRows(database, 2);
    expect([claim.isLeased('1'), claim.isLeased('2')]).toEqual([true, true]);
    expect(await claim.finalize('2')).toBe('done');
    clock.jump(53_999);
    expect([claim.isLeased('1'), claim.isLeased('2')]).toEqual([true, false]);
    clock.jump(1);
    expect(claim.isLeased('1')).toBe(false);
    expect(claim.signalOf('1').reason).toEqual(reason('LEASEHOLD_LEASE_ENDING'));
    await claim.renew();
    expect(claim.isLeased('1')).toBe(false);
    expect(() => claim.isLeased('3')).toThrow(/is no row of this claim/);
  });

  test('on the wall that ran on while the machine was suspended ends the lease, in events too', async ({ database }) => {
    const { claim, clock } = await heldRows(database, 1);
    let heard = 0;
    for (const signal of [claim.signal, claim.signalOf('1')]) signal.addEventListener('abort', () => (heard += 1));
    clock.jumpWall(60_000);
    await clock.advance(5_000);
    expect(heard).toBe(2);
  });

  test('on the wall that jumps back prolongs nothing', async ({ database }) => {
    const { claim, clock } = await heldRows(database, 1);
    clock.jumpWall(-3_600_000);
    await clock.advance(53_999);
    expect(claim.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(claim.signal.aborted).toBe(true);
  });

  test('is not believed in again once it was given up', async ({ database }) => {
    const { claim, clock, leases } = await heldRows(database, 1);
    const signal = claim.signalOf('1');
    await clock.advance(54_000);
    await shorten(database, 100);
    expect(await claim.renew()).toEqual([]);
    expect((await leases())[0]).toBeGreaterThan(50_000);
    expect([signal.aborted, claim.signal.aborted, claim.timeLeftMs]).toEqual([true, true, 0]);
    expect(await claim.finalize('1')).toBe('done');
  });
});

describe('the end of a claim', () => {
  test('by close() leaves no timer, and the rows leased', async ({ database }) => {
    const { claim, clock, leases } = await heldRows(database, 1, { autoRenew: true });
    expect(clock.pendingTimers).toBe(2);
    claim.close();
    expect(clock.pendingTimers).toBe(0);
    await claim.renew();
    expect(clock.pendingTimers).toBe(0);
    expect((await leases())[0]).toBeGreaterThan(50_000);
  });

  test('by `await using` hands back what is not settled, with its attempt', async ({ database }) => {
    const { claim, clock } = await heldRows(database, 2, { autoRenew: true });
    await claim.finalize('1');
    await claim[Symbol.asyncDispose]();
    expect(clock.pendingTimers).toBe(0);
    expect((await rowsOf(database))[1]).toMatchObject({ lock_id: null, locked_until: null, attempts: 0 });
  });

  test('of no rows has neither timer nor signal', async ({ database }) => {
    const { claim, clock } = await heldRows(database, 0, { autoRenew: true, limit: 1 });
    await clock.advance(120_000);
    expect([clock.pendingTimers, claim.signal.aborted, await claim.renew()]).toEqual([0, false, []]);
  });
});
