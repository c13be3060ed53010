import { describe, expect } from 'vitest';
import { type Outcome, sql } from '@leasehold/core/work';
import type pg from 'pg';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { createDeliveries, deliveriesOf, type Delivery, endLeases, rowsOf } from './support/deliveries.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

/** Runs the body between `begin` and `commit`, or `rollback` where it throws. */
async function transaction<T>({ pool }: TestDatabase, body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await body(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

describe('settling within a transaction of the caller’s', () => {
  test('commits with it: the business row, and the end of the row of work', async ({ database }) => {
    await createDeliveries(database, 1);
    const claim = await deliveriesOf(database).claim(database.pool);
    await database.query(`create table ${database.schema}.sent (id int)`);
    await transaction(database, async (client) => {
      await client.query(`insert into ${database.schema}.sent values (1)`);
      expect(await claim.finalize('1', {}, { client, onLost: 'throw' })).toBe('done');
    });
    expect(await database.query(`select * from ${database.schema}.sent`)).toEqual([{ id: 1 }]);
    expect((await rowsOf(database))[0]?.completed_at).not.toBeNull();
    // Renewing what was finished there is no loss.
    expect(await claim.renew()).toEqual([]);
    expect([claim.signal.aborted, claim.signalOf('1').aborted]).toEqual([false, false]);
  });

  test('rolls it back when the row was lost and `onLost` says throw', async ({ database }) => {
    await createDeliveries(database, 1);
    const deliveries = deliveriesOf(database);
    const stale = await deliveries.claim(database.pool);
    await endLeases(database);
    const current = await deliveries.claim(database.pool);
    await database.query(`create table ${database.schema}.sent (id int)`);
    const sending = transaction(database, async (client) => {
      await client.query(`insert into ${database.schema}.sent values (1)`);
      await stale.finalize('1', {}, { client, onLost: 'throw' });
    });
    await expect(sending).rejects.toThrow(code('LEASEHOLD_ROW_LOST'));
    expect(await database.query(`select * from ${database.schema}.sent`)).toEqual([]);
    current.close();
  });

  test('that is rolled back leaves the row open: renewed, and settled by a second call', async ({ database }) => {
    await createDeliveries(database, 2);
    const claim = await deliveriesOf(database).claim(database.pool, { lease: '1m' });
    const failing = transaction(database, async (client) => {
      await claim.settle(
        claim.rows.map((row): Outcome<Delivery> => ({ row, outcome: 'done' })),
        { client },
      );
      throw new Error('business');
    });
    await expect(failing).rejects.toThrow('business');
    expect(await claim.renew('5m')).toEqual([]);
    expect(Number((await rowsOf(database))[0]?.locked_until) - Date.now()).toBeGreaterThan(200_000);
    expect(await claim.finalize('1')).toBe('done');
    expect(await claim.retry('2', {}, { after: 0 })).toBe('done');
  });

  test('twice in the same one, rolled back, takes the row for lost neither in state nor signal', async ({ database }) => {
    await createDeliveries(database, 1);
    const claim = await deliveriesOf(database).claim(database.pool);
    const failing = transaction(database, async (client) => {
      expect(await claim.retry('1', {}, { after: 0, client })).toBe('done');
      expect(await claim.finalize('1', {}, { client })).toBe('lost');
      throw new Error('business');
    });
    await expect(failing).rejects.toThrow('business');
    expect(claim.signalOf('1').aborted).toBe(false);
    expect(await claim.renew()).toEqual([]);
    expect(await claim.finalize('1')).toBe('done');
  });

  test('that has failed already is answered with its error, and not tried again', async ({ database }) => {
    await createDeliveries(database, 1);
    const claim = await deliveriesOf(database).claim(database.pool);
    let statements = 0;
    const failing = transaction(database, async (client) => {
      await client.query('select 1 / 0').catch(() => {});
      const query = async (text: string, values?: unknown[]): Promise<{ rows: unknown[] }> => {
        statements += 1;
        return client.query(text, values);
      };
      await claim.finalize('1', {}, { client: { query } });
    });
    await expect(failing).rejects.toThrow(code('25P02'));
    expect(statements).toBe(1);
    expect(await claim.finalize('1')).toBe('done');
  });

  test('leaves its settings as they were', async ({ database }) => {
    await createDeliveries(database, 1);
    const claim = await deliveriesOf(database).claim(database.pool);
    await transaction(database, async (client) => {
      await client.query(`set local lock_timeout = '1234ms'`);
      await claim.finalize('1', {}, { client });
      expect((await client.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '1234ms' }]);
    });
  });
});

describe('a claim within a transaction', () => {
  test('that is the claim’s own client tells what went wrong first, and not that the transaction is aborted', async ({
    database,
  }) => {
    await createDeliveries(database, 1);
    await database.query(`create function ${database.schema}.fail() returns text language plpgsql as
      $$ begin raise exception 'busy' using errcode = '40001'; end $$`);
    const failing = transaction(database, async (client) => {
      const claim = await deliveriesOf(database).claim(client);
      await claim.finalize('1', { error: sql([`${database.schema}.fail()`]) });
    });
    await expect(failing).rejects.toThrow(code('40001'));
  });

  test('that is rolled back is void: its rows are lost, and due for others', async ({ database }) => {
    await createDeliveries(database, 1);
    const deliveries = deliveriesOf(database);
    const client = await database.pool.connect();
    await client.query('begin');
    const claim = await deliveries.claim(client);
    await client.query('rollback');
    expect(await claim.renew()).toHaveLength(1);
    expect(claim.signal.aborted).toBe(true);
    client.release();
    const next = await deliveries.claim(database.pool);
    expect(next.rows).toHaveLength(1);
    next.close();
  });
});
