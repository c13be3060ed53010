import { describe, expect } from 'vitest';
import { sql } from '@leasehold/core/work';
import { test } from '../../../../test/support/database.ts';
import { createDeliveries, deliveriesOf, endLeases, rowsOf } from './support/deliveries.ts';

const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

describe('a claim', () => {
  test('leases due rows in their order, and counts the attempt', async ({ database }) => {
    await createDeliveries(database, 5);
    const deliveries = deliveriesOf(database);
    const claim = await deliveries.claim(database.pool, { limit: 3, lease: '1m' });
    expect(ids(claim.rows)).toEqual(['1', '2', '3']);
    expect(claim.rows.map((row) => row.attempts)).toEqual([1, 1, 1]);
    expect(claim.rows[0]?.payload).toEqual({ n: 1 });
    const rows = await rowsOf(database);
    expect(rows.map((row) => row.lock_id)).toEqual([claim.id, claim.id, claim.id, null, null]);
    expect(Number(rows[0]?.locked_until) - Date.now()).toBeGreaterThan(50_000);
    const next = await deliveries.claim(database.pool, { limit: 3 });
    expect(ids(next.rows)).toEqual(['4', '5']);
    claim.close();
    next.close();
  });

  test('of nothing is empty', async ({ database }) => {
    await createDeliveries(database);
    const claim = await deliveriesOf(database).claim(database.pool);
    expect([claim.rows, claim.buried]).toEqual([[], 0]);
  });

  test('takes only what `where` selects, and writes `onClaim`', async ({ database }) => {
    await createDeliveries(database, 4);
    const claim = await deliveriesOf(database).claim(database.pool, {
      where: sql`(payload->>'n')::int > ${2}`,
      onClaim: { error: 'under way' },
      returning: ['id', 'error'],
    });
    expect(claim.rows).toEqual([
      { id: '3', error: 'under way' },
      { id: '4', error: 'under way' },
    ]);
    claim.close();
  });

  test('puts away what has no attempt left, and still fills up behind it', async ({ database }) => {
    await createDeliveries(database, 8);
    await database.query(`update ${database.schema}.deliveries set attempts = 5 where id <= 4`);
    const claim = await deliveriesOf(database).claim(database.pool, { limit: 4 });
    expect([ids(claim.rows), claim.buried]).toEqual([['5', '6', '7', '8'], 4]);
    const rows = await rowsOf(database);
    expect(rows.slice(0, 4).every((row) => row.failed_at !== null && row.error === 'attempts used up')).toBe(true);
    claim.close();
  });

  test('puts away a row whose worker died at the last attempt', async ({ database }) => {
    await createDeliveries(database, 1);
    const deliveries = deliveriesOf(database, { attempts: { column: 'attempts', max: 1 } });
    (await deliveries.claim(database.pool)).close();
    await endLeases(database);
    const claim = await deliveries.claim(database.pool);
    expect([claim.rows, claim.buried]).toEqual([[], 1]);
    expect((await rowsOf(database))[0]?.error).toBe('lease expired at the last attempt');
  });
});

describe('settling', () => {
  test('finishes, retries, releases and buries with one statement', async ({ database }) => {
    await createDeliveries(database, 6);
    const claim = await deliveriesOf(database).claim(database.pool, { limit: 6 });
    await database.query(`delete from ${database.schema}.deliveries where id = 6`);
    const fates = await claim.settle([
      { row: '1', outcome: 'done', set: { payload: { sent: true } } },
      { row: '2', outcome: 'done', set: { payload: null } },
      { row: '3', outcome: 'retry', after: '1h', set: { error: 'no\u0000t now \uD800' } },
      { row: '4', outcome: 'release' },
      { row: '5', outcome: 'bury', reason: 'unknown address' },
      { row: '6', outcome: 'done' },
    ]);
    expect(fates).toEqual(['done', 'done', 'done', 'done', 'done', 'gone']);
    const [done, emptied, retried, released, buried] = await rowsOf(database);
    expect(done).toMatchObject({ payload: { sent: true }, locked_until: null, lock_id: claim.id });
    expect(done?.completed_at).not.toBeNull();
    expect(emptied?.payload).toBeNull();
    expect(retried).toMatchObject({ error: 'no\uFFFDt now \uFFFD', lock_id: null, attempts: 1 });
    expect(Number(retried?.locked_until) - Date.now()).toBeGreaterThan(3_500_000);
    expect(released).toMatchObject({ lock_id: null, locked_until: null, attempts: 0 });
    expect(buried).toMatchObject({ error: 'unknown address', completed_at: null });
    expect(buried?.failed_at).not.toBeNull();
  });

  test('touches nothing of a row that another worker has claimed since', async ({ database }) => {
    await createDeliveries(database, 4);
    const deliveries = deliveriesOf(database);
    const late = await deliveries.claim(database.pool, { limit: 4 });
    await endLeases(database);
    const current = await deliveries.claim(database.pool, { limit: 4 });
    const before = await rowsOf(database);
    expect(await late.renew()).toHaveLength(4);
    const fates = await late.settle([
      { row: '1', outcome: 'done' },
      { row: '2', outcome: 'retry', after: 0 },
      { row: '3', outcome: 'release' },
      { row: '4', outcome: 'bury' },
    ]);
    expect(fates).toEqual(['lost', 'lost', 'lost', 'lost']);
    expect(await rowsOf(database)).toEqual(before);
    current.close();
  });
});
