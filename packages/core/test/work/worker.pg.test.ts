import { delay, systemClock } from '@leasehold/core';
import { bury, done, heldRoles, retryIn, sql } from '@leasehold/core/work';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { testLeasehold } from '../../../testing/src/test-leasehold.ts';
import { startTcpProxy } from '../../../testing/src/faults/tcp-proxy.ts';
import { test } from '../../../../test/support/database.ts';
import { spyLogger } from '../support/spy-logger.ts';
import { createDeliveries, deliveriesOf, type Delivery, endLeases, rowsOf } from './support/deliveries.ts';

const quick = { minIdle: '20ms', maxIdle: '100ms' } as const;

/** The token stays on a finished row: who finished it. */
const isLeased = (row: Delivery): boolean => row.lock_id !== null && row.completed_at === null && row.failed_at === null;

describe('a worker', () => {
  test('does every row once, with its outcome, and leaves no lease behind', async ({ database }) => {
    await createDeliveries(database, 500);
    const seen: string[] = [];
    const worker = deliveriesOf(database).work(database.pool, {
      ...quick,
      concurrency: 20,
      errorColumn: 'error',
      backoff: () => '1h',
      handler: (row, job) => {
        seen.push(row.id);
        expect([job.attempt, row.lock_id === null || row.lock_id === job.claimId]).toEqual([1, true]);
        const n = Number(row.id) % 5;
        if (n === 1) return retryIn('30m', { error: 'busy' });
        if (n === 2) return bury('unwanted');
        if (n === 3) throw new Error('half a pair \uD800, and \0');
        return n === 4 ? done({ payload: { answer: null } }) : undefined;
      },
    });
    await expect.poll(() => worker.stats().done + worker.stats().retried + worker.stats().buried).toBe(500);
    await worker.stop();
    expect(new Set(seen).size).toBe(500);
    expect(seen).toHaveLength(500);
    const rows = await rowsOf(database);
    const of = (n: number) => rows.filter(({ id }) => Number(id) % 5 === n);
    expect(rows.filter(isLeased)).toEqual([]);
    expect(of(0).every((row) => row.completed_at !== null)).toBe(true);
    expect(of(4).every((row) => row.completed_at !== null && JSON.stringify(row.payload) === '{"answer":null}')).toBe(true);
    expect(of(2).every((row) => row.failed_at !== null && row.error === 'unwanted')).toBe(true);
    expect(of(1).every((row) => row.completed_at === null && row.error === 'busy')).toBe(true);
    expect(new Set(of(3).map((row) => row.error))).toEqual(new Set(['Error: half a pair \uFFFD, and \uFFFD']));
    expect(worker.stats()).toMatchObject({ done: 200, retried: 200, buried: 100, failed: 100, lost: 0, abandoned: 0 });
  });

  test('shares a table with others: no row is done twice', async ({ database }) => {
    await createDeliveries(database, 2_000);
    const times = new Map<string, number>();
    const start = () =>
      deliveriesOf(database).work(database.pool, {
        ...quick,
        handler: (row) => void times.set(row.id, (times.get(row.id) ?? 0) + 1),
      });
    const workers = [start(), start(), start()];
    await expect.poll(() => workers.reduce((sum, worker) => sum + worker.stats().done, 0)).toBe(2_000);
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(times.size).toBe(2_000);
    expect([...times.values()].every((count) => count === 1)).toBe(true);
  });

  test('finishes a row in the transaction of the business rows, or neither', async ({ database }) => {
    await createDeliveries(database, 2);
    const { schema, pool } = database;
    await database.query(`create table ${schema}.ledger (delivery bigint)`);
    const errors: unknown[] = [];
    const worker = deliveriesOf(database).work(pool, {
      ...quick,
      backoff: () => '1h',
      handler: async (row, job) => {
        const client = await pool.connect();
        try {
          await client.query('begin');
          await client.query(`insert into ${schema}.ledger values ($1)`, [row.id]);
          if (row.id === '2') await database.query(`update ${schema}.deliveries set lock_id = gen_random_uuid() where id = 2`);
          await job.finalize(client);
          await client.query('commit');
        } catch (error) {
          errors.push(error);
          await client.query('rollback');
          throw error;
        } finally {
          client.release();
        }
      },
    });
    await expect
      .poll(() => worker.stats().running + worker.stats().waiting + worker.stats().unsettled === 0 && errors.length)
      .toBe(1);
    await worker.stop();
    expect(errors).toMatchObject([{ code: 'LEASEHOLD_ROW_LOST' }]);
    expect(await database.query(`select delivery from ${schema}.ledger`)).toEqual([{ delivery: '1' }]);
    expect((await rowsOf(database)).map((row) => row.completed_at !== null)).toEqual([true, false]);
    expect(worker.stats().lost).toBe(1);
  });

  test('retries a row whose own transaction was rolled back after it had finished the row there', async ({ database }) => {
    await createDeliveries(database, 1);
    const worker = deliveriesOf(database).work(database.pool, {
      ...quick,
      errorColumn: 'error',
      backoff: () => '1h',
      handler: async (_row, job) => {
        const client = await database.pool.connect();
        await client.query('begin');
        await job.finalize(client);
        await client.query('rollback');
        client.release();
        throw new Error('could not commit');
      },
    });
    await expect.poll(() => worker.stats().retried).toBe(1);
    await worker.stop();
    expect(await rowsOf(database)).toMatchObject([{ completed_at: null, lock_id: null, error: 'Error: could not commit' }]);
  });

  test('isolates the row whose outcome a constraint refuses', async ({ database }) => {
    await createDeliveries(database, 40);
    await database.query(`alter table ${database.schema}.deliveries add check (payload <> '"poison"'::jsonb)`);
    const logger = spyLogger();
    const worker = deliveriesOf(database, { logger }).work(database.pool, {
      ...quick,
      concurrency: 40,
      errorColumn: 'error',
      backoff: () => '1h',
      handler: (row) => done({ payload: row.id === '17' ? 'poison' : 'fine' }),
    });
    await expect.poll(() => worker.stats().done + worker.stats().retried).toBe(40);
    await worker.stop();
    const rows = await rowsOf(database);
    expect(rows.filter((row) => row.completed_at === null).map(({ id, error }) => [id, error])).toEqual([
      ['17', expect.stringMatching(/violates check constraint/)],
    ]);
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('takes over the rows of a worker that died, and buries one that died at its last attempt', async ({ database }) => {
    await createDeliveries(database, 2);
    await database.query(`update ${database.schema}.deliveries set attempts = 4 where id = 2`);
    const deliveries = deliveriesOf(database);
    (await deliveries.claim(database.pool)).close();
    await endLeases(database);
    const worker = deliveries.work(database.pool, { ...quick, handler: () => {} });
    await expect.poll(() => worker.stats()).toMatchObject({ done: 1, buried: 1 });
    await worker.stop();
    expect(await rowsOf(database)).toMatchObject([{ attempts: 2 }, { error: 'lease expired at the last attempt' }]);
  });

  test('sleeps until the next row is due', async ({ database }) => {
    await createDeliveries(database, 1);
    await database.query(`update ${database.schema}.deliveries set created_at = clock_timestamp() + interval '1.5 seconds'`);
    const worker = deliveriesOf(database).work(database.pool, { minIdle: '1m', maxIdle: '1m', handler: () => {} });
    await expect.poll(() => worker.stats().done).toBe(1);
    expect(worker.stats().claims).toBeLessThanOrEqual(3);
    await worker.stop();
  });

  test('is told by a NOTIFY of a row that nobody could foresee', async ({ database }) => {
    await createDeliveries(database);
    const listener = await database.pool.connect();
    await listener.query(`listen ${database.schema}`);
    const worker = deliveriesOf(database).work(database.pool, {
      minIdle: '1h',
      maxIdle: '1h',
      handler: () => {},
      wakeUp: (notify) => {
        listener.on('notification', notify);
        return () => listener.off('notification', notify);
      },
    });
    await expect.poll(() => worker.stats().emptyClaims).toBe(1);
    await database.query(`insert into ${database.schema}.deliveries default values`);
    await database.query(`notify ${database.schema}`);
    await expect.poll(() => worker.stats().done).toBe(1);
    await worker.stop();
    expect(listener.listenerCount('notification')).toBe(0);
    listener.release(true);
  });

  test('hands back what waits when it stops, with its attempt', async ({ database }) => {
    await createDeliveries(database, 200);
    const { promise, resolve } = Promise.withResolvers<void>();
    const worker = deliveriesOf(database).work(database.pool, {
      ...quick,
      concurrency: 2,
      handler: (row) => (Number(row.id) <= 4 ? undefined : promise),
    });
    await expect.poll(() => worker.stats().waiting).toBeGreaterThan(5);
    const { waiting } = worker.stats();
    const stopped = worker.stop();
    await expect.poll(() => worker.stats().released).toBe(waiting);
    resolve();
    await stopped;
    const rows = await rowsOf(database);
    expect(rows.filter(isLeased)).toEqual([]);
    expect(rows.filter((row) => row.completed_at === null).every((row) => row.attempts === 0)).toBe(true);
    expect(rows.filter((row) => row.completed_at !== null)).toHaveLength(6);
  });

  test('works on the rows of roles held here, and on those of none', async ({ database }) => {
    await createDeliveries(database, 4);
    await database.query(`alter table ${database.schema}.deliveries add target_role text`);
    await database.query(
      `update ${database.schema}.deliveries set target_role = (array['mail', 'hooks', 'it''s'])[id] where id < 4`,
    );
    const { leasehold, hold } = testLeasehold({ roles: ['mail', 'hooks', "it's"] });
    await leasehold.start();
    await hold("it's");
    const ids: string[] = [];
    const worker = deliveriesOf(database).work(database.pool, {
      ...quick,
      where: heldRoles(leasehold, 'target_role').and(sql`id > ${0}`),
      handler: (row) => void ids.push(row.id),
    });
    await expect.poll(() => worker.stats().done).toBe(2);
    expect(ids).toEqual(['3', '4']);
    await hold('mail');
    await expect.poll(() => worker.stats().done).toBe(3);
    await worker.stop();
    await leasehold.stop();
    expect(ids).toEqual(['3', '4', '1']);
  });
});

describe('a worker whose database goes away', () => {
  test('is cut off, hangs or loses what it answers, goes on by itself', async ({ database }) => {
    await createDeliveries(database, 400);
    await using proxy = await startTcpProxy({ targetPort: Number(new URL(database.connectionString).port) });
    const pool = new pg.Pool({ connectionString: proxy.connectionString(database.connectionString), max: 4 });
    pool.on('error', () => {});
    const logger = spyLogger();
    const worker = deliveriesOf(database, { logger, attempts: { column: 'attempts', max: 50 } }).work(pool, {
      ...quick,
      concurrency: 5,
      prefetch: 5,
      lease: '2s',
      handler: (_row, job) => delay(systemClock, 10, job.signal),
    });
    const faults = [() => proxy.cut(), () => proxy.hang(), () => proxy.dropReplies()];
    for (const [index, fault] of faults.entries()) {
      await expect.poll(() => worker.stats().done).toBeGreaterThan(80 * (index + 1));
      await fault();
      await delay(systemClock, 1_000);
      await proxy.heal();
    }
    await expect
      .poll(async () => (await rowsOf(database)).every((row) => row.completed_at !== null), { timeout: 25_000 })
      .toBe(true);
    await worker.stop();
    await pool.end();
    expect((await rowsOf(database)).filter(isLeased)).toEqual([]);
    const outages = logger.lines.filter(({ text }) => text.startsWith('no rows can be claimed'));
    expect(outages.length).toBeLessThanOrEqual(6);
  });
});
