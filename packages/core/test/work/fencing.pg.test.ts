import { describe, expect } from 'vitest';
import { type Claim, type Outcome, sql } from '@leasehold/core/work';
import { test } from '../../../../test/support/database.ts';
import { createDeliveries, deliveriesOf, type Delivery, endLeases, rowsOf } from './support/deliveries.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

/** Every way to write under a claim. */
const WRITES: readonly [name: string, write: (claim: Claim<Delivery>) => Promise<unknown>][] = [
  ['finalizes', (claim) => claim.finalize('1', { error: 'stale' })],
  ['retries', (claim) => claim.retry('1', { error: 'stale' }, { after: 0 })],
  ['releases', (claim) => claim.release('1')],
  ['buries', (claim) => claim.bury('1', { error: 'stale' })],
];

describe('a worker whose lease ran out and was taken', () => {
  test.for(WRITES)('%s nothing of the new claim, at any moment of it', async ([, write], { database }) => {
    await createDeliveries(database, 1);
    const deliveries = deliveriesOf(database);
    const stale = await deliveries.claim(database.pool);
    await endLeases(database);
    const current = await deliveries.claim(database.pool);
    const held = await rowsOf(database);
    expect(await write(stale)).toBe('lost');
    expect(await rowsOf(database)).toEqual(held);
    expect(await current.finalize('1')).toBe('done');
    const finished = await rowsOf(database);
    expect(await write(stale)).toBe('lost');
    expect(await stale.renew()).toEqual([]);
    expect(await rowsOf(database)).toEqual(finished);
  });

  test('is not let in by a status that is the same again', async ({ database }) => {
    await createDeliveries(database, 1);
    const deliveries = deliveriesOf(database, { attempts: { column: 'attempts', max: 30 } });
    const stale = await deliveries.claim(database.pool);
    await endLeases(database);
    const between = await deliveries.claim(database.pool);
    await between.release('1');
    const current = await deliveries.claim(database.pool);
    // As at the stale claim: leased, of the same attempt.
    expect((await rowsOf(database))[0]).toMatchObject({ attempts: 2, lock_id: current.id });
    expect(await stale.finalize('1')).toBe('lost');
    current.close();
  });

  test('does not wake up what the new claim has finished, retried or buried', async ({ database }) => {
    await createDeliveries(database, 3);
    const deliveries = deliveriesOf(database);
    const stale = await deliveries.claim(database.pool);
    await endLeases(database);
    const current = await deliveries.claim(database.pool);
    await current.settle([
      { row: '1', outcome: 'done' },
      { row: '2', outcome: 'retry', after: '1h' },
      { row: '3', outcome: 'bury' },
    ]);
    const before = await rowsOf(database);
    const outcomes = ['1', '2', '3'].map((row): Outcome<Delivery> => ({ row, outcome: 'retry', after: 0 }));
    expect(await stale.settle(outcomes)).toEqual(['lost', 'lost', 'lost']);
    expect(await rowsOf(database)).toEqual(before);
  });

  test('may still finish while nobody has taken the row', async ({ database }) => {
    await createDeliveries(database, 1);
    const late = await deliveriesOf(database).claim(database.pool);
    await endLeases(database);
    expect(await late.finalize('1')).toBe('done');
  });
});

describe('a token', () => {
  test('is new for each claim of the same table object', async ({ database }) => {
    await createDeliveries(database, 2);
    const deliveries = deliveriesOf(database);
    const first = await deliveries.claim(database.pool, { limit: 1 });
    const second = await deliveries.claim(database.pool, { limit: 1 });
    expect(first.id).not.toBe(second.id);
    await expect(second.finalize('1')).rejects.toThrow(code('LEASEHOLD_UNKNOWN_ROW'));
    first.close();
    second.close();
  });
});

describe('a row that changed under the worker', () => {
  test('keeps what a producer wrote meanwhile', async ({ database }) => {
    await createDeliveries(database, 1);
    const claim = await deliveriesOf(database).claim(database.pool);
    await database.query(`update ${database.schema}.deliveries set payload = '{"changed": true}', error = 'theirs'`);
    expect(await claim.finalize('1', { error: sql`error || ', and mine'` })).toBe('done');
    expect((await rowsOf(database))[0]).toMatchObject({ payload: { changed: true }, error: 'theirs, and mine' });
  });

  test('by being deleted is gone, and no error', async ({ database }) => {
    await createDeliveries(database, 2);
    const claim = await deliveriesOf(database).claim(database.pool);
    const signal = claim.signalOf('1');
    await database.query(`delete from ${database.schema}.deliveries where id = 1`);
    expect(await claim.finalize('1')).toBe('gone');
    expect([signal.aborted, claim.signal.aborted]).toEqual([true, false]);
    expect(await claim.finalize('2')).toBe('done');
  });

  test('by a lock that is given back goes on after it', async ({ database }) => {
    await createDeliveries(database, 1);
    const claim = await deliveriesOf(database).claim(database.pool);
    const application = await database.pool.connect();
    await application.query(`begin; update ${database.schema}.deliveries set payload = '{"late": 1}' where id = 1`);
    const fate = claim.finalize('1', { error: 'sent' });
    const waiting = (): Promise<unknown[]> =>
      database.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%' || $1 || '%'`, [
        database.schema,
      ]);
    await expect.poll(waiting).toHaveLength(1);
    await application.query('commit');
    application.release();
    expect(await fate).toBe('done');
    expect((await rowsOf(database))[0]).toMatchObject({ payload: { late: 1 }, error: 'sent' });
  });
});

describe('recovery', () => {
  test('of an expired row needs no other job: the next claim takes it, with its attempt counted', async ({ database }) => {
    await createDeliveries(database, 1);
    const deliveries = deliveriesOf(database);
    (await deliveries.claim(database.pool)).close();
    expect((await deliveries.claim(database.pool)).rows).toEqual([]);
    await endLeases(database);
    const next = await deliveries.claim(database.pool);
    expect(next.rows[0]).toMatchObject({ id: '1', attempts: 2 });
    await next.release('1');
    expect((await rowsOf(database))[0]).toMatchObject({ attempts: 1, lock_id: null, locked_until: null });
  });

  test('and finishing at the same moment: one of the two has the row', async ({ database }) => {
    await createDeliveries(database, 20);
    const deliveries = deliveriesOf(database);
    const slow = await deliveries.claim(database.pool, { limit: 20 });
    await endLeases(database);
    const [fates, rescuers] = await Promise.all([
      Promise.all(slow.rows.map((row) => slow.finalize(row))),
      Promise.all([0, 1, 2, 3].map(() => deliveries.claim(database.pool, { limit: 5 }))),
    ]);
    const finished = slow.rows.filter((_, index) => fates[index] === 'done').map(({ id }) => id);
    const taken = rescuers.flatMap(({ rows }) => rows.map(({ id }) => id));
    expect([...finished, ...taken].toSorted()).toEqual(slow.rows.map(({ id }) => id).toSorted());
    expect(new Set([...finished, ...taken]).size).toBe(20);
    for (const claim of rescuers) claim.close();
  });

  test('finds the due rows behind any number of spent ones, and puts those away', async ({ database }) => {
    await createDeliveries(database, 60);
    await database.query(`update ${database.schema}.deliveries set attempts = 5, lock_id = gen_random_uuid() where id <= 50`);
    const claim = await deliveriesOf(database).claim(database.pool, { limit: 10 });
    expect(claim.rows.map(({ id }) => Number(id))).toEqual([51, 52, 53, 54, 55, 56, 57, 58, 59, 60]);
    expect(claim.buried).toBe(10);
    expect((await rowsOf(database)).filter((row) => row.error === 'lease expired at the last attempt')).toHaveLength(10);
    claim.close();
  });

  test('of a row past its deadline is none: it is put away', async ({ database }) => {
    await createDeliveries(database, 2);
    await database.query(`update ${database.schema}.deliveries set expires_at = clock_timestamp() - interval '1 s' where id = 1`);
    const claim = await deliveriesOf(database, { deadline: 'expires_at' }).claim(database.pool);
    expect([claim.rows.map(({ id }) => id), claim.buried]).toEqual([['2'], 1]);
    expect((await rowsOf(database))[0]?.error).toBe('deadline passed');
    claim.close();
  });
});
