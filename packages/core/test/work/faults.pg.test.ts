import { describe, expect } from 'vitest';
import { type Outcome, type SqlClient, sql } from '@leasehold/core/work';
import pg from 'pg';
import { startPostgres } from '../../../testing/src/index.ts';
import { test } from '../../../../test/support/database.ts';
import { createDeliveries, deliveriesOf, type Delivery, rowsOf } from './support/deliveries.ts';
import { busyBackends, faultyPool } from './support/faults.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const error = (state: string): Error => Object.assign(new Error(state), { code: state, severity: 'ERROR' });

/** Fails so many times with the given errors, and then asks the other. */
function failing(client: SqlClient, failures: Error[]): SqlClient {
  return {
    query: (text, values) => {
      const failure = text.includes('leasehold_wrote') ? failures.shift() : undefined;
      return failure === undefined ? client.query(text, values) : Promise.reject(failure);
    },
  };
}

/** Keeps all rows locked until it is called. */
async function lockRows(pool: pg.Pool, lock: string): Promise<() => Promise<void>> {
  const application = await pool.connect();
  await application.query(`begin; ${lock}`);
  return async () => {
    await application.query('rollback');
    application.release();
  };
}

describe('a settlement that fails in passing', () => {
  test.for([['40001'], ['40P01'], ['55P03'], ['53300'], ['08006'], ['57P01'], ['ECONNRESET']])(
    'with %s, twice, is tried again within the lease',
    async ([state = ''], { database }) => {
      await createDeliveries(database, 1);
      const client = failing(database.pool, [error(state), error(state)]);
      const claim = await deliveriesOf(database).claim(client);
      expect(await claim.finalize('1')).toBe('done');
    },
  );

  test.for([['23505'], ['22P02'], ['25P02'], ['42501']])('but not with %s, which lasts', async ([state = ''], { database }) => {
    await createDeliveries(database, 1);
    const client = failing(database.pool, [error(state)]);
    const claim = await deliveriesOf(database).claim(client);
    await expect(claim.finalize('1')).rejects.toThrow(code(state));
    expect(await claim.finalize('1')).toBe('done');
  });

  test('in the midst of a long list keeps what was settled before, and a repeated call settles the rest', async ({
    database,
  }) => {
    await createDeliveries(database, 2_500);
    let statements = 0;
    const client: SqlClient = {
      query: (text, values) => {
        const settles = text.includes('leasehold_wrote');
        if (settles) statements += 1;
        return settles && statements === 2 ? Promise.reject(error('23505')) : database.pool.query(text, values);
      },
    };
    const claim = await deliveriesOf(database).claim(client, { limit: 2_500 });
    const outcomes = claim.rows.map((row): Outcome<Delivery> => ({ row, outcome: 'retry', after: '1h' }));
    await expect(claim.settle(outcomes)).rejects.toThrow(code('23505'));
    expect(await claim.renew()).toEqual([]);
    expect(new Set(await claim.settle(outcomes))).toEqual(new Set(['done']));
    expect(statements).toBe(4);
    await expect(claim.settle(outcomes)).rejects.toThrow(code('LEASEHOLD_ALREADY_SETTLED'));
  });
});

describe('a lost connection', () => {
  test('in the midst of a settlement is replaced, and the process goes on', async ({ database }) => {
    await createDeliveries(database, 1);
    const { pool } = await faultyPool(database);
    const claim = await deliveriesOf(database).claim(pool);
    const free = await lockRows(database.pool, `select from ${database.schema}.deliveries for update`);
    const fate = claim.finalize('1', { error: sql`coalesce(error, '') || 'once'` });
    await expect.poll(() => busyBackends(database)).toMatchObject([{ waits: true }]);
    const [backend] = await busyBackends(database);
    await database.query('select pg_terminate_backend($1)', [backend?.pid]);
    await free();
    expect(await fate).toBe('done');
    expect((await rowsOf(database))[0]?.error).toBe('once');
  });

  test('of a client without a pool is told at once', async ({ database }) => {
    await createDeliveries(database, 1);
    const client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
    client.on('error', () => {});
    const claim = await deliveriesOf(database).claim(client, { lease: '10m' });
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    await database.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await expect(claim.finalize('1')).rejects.toThrow();
    expect(await claim.finalize('1', {}, { client: database.pool })).toBe('done');
  });

  test.for([
    ['done', { completed_at: sql`clock_timestamp()` }],
    ['bury', {}],
    ['retry', {}],
    ['release', {}],
  ] as const)(
    'that swallows the answer to `%s`: the repeated statement says done, and writes nothing',
    async ([outcome, set], { database }) => {
      await createDeliveries(database, 1);
      const { pool, proxy } = await faultyPool(database);
      const claim = await deliveriesOf(database).claim(pool, { lease: '10s', statementTimeout: '500ms' });
      await database.query(`create table ${database.schema}.log (at timestamptz);
      create function ${database.schema}.log() returns trigger language plpgsql as
        $$ begin insert into ${database.schema}.log values (clock_timestamp()); return new; end $$;
      create trigger log after update on ${database.schema}.deliveries for each row execute function ${database.schema}.log()`);
      await proxy.dropReplies();
      const written = (): Promise<unknown[]> => database.query(`select * from ${database.schema}.log`);
      const asked = { row: '1', outcome, ...(outcome === 'retry' ? { after: '1h' } : {}), set } as Outcome<Delivery>;
      const settling = claim.settle([asked]);
      await expect.poll(written).toHaveLength(1);
      await proxy.heal();
      expect(await settling).toEqual(['done']);
      expect(await written()).toHaveLength(1);
    },
  );

  test(
    'takes the database with it: a restart in the midst of settling and renewing',
    { timeout: 60_000 },
    async ({ database }) => {
      await using server = await startPostgres();
      const pool = new pg.Pool({ connectionString: server.connectionString });
      pool.on('error', () => {});
      const elsewhere = {
        ...database,
        pool,
        query: async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows,
      };
      await createDeliveries(elsewhere as typeof database, 2);
      const claim = await deliveriesOf(database).claim(pool, { lease: '5m' });
      const restarted = server.restart({ mode: 'immediate' });
      const fate = claim.finalize('1');
      await restarted;
      expect(await fate).toBe('done');
      expect(await claim.renew()).toEqual([]);
      expect(await claim.finalize('2')).toBe('done');
      await pool.end();
    },
  );
});

describe('a statement that hangs', () => {
  test('is given up, its connection is destroyed, and a pool of one is usable after', async ({ database }) => {
    await createDeliveries(database, 2);
    const { pool, proxy } = await faultyPool(database, 1);
    const deliveries = deliveriesOf(database);
    const claim = await deliveries.claim(pool, { limit: 1, lease: '10s', statementTimeout: '1s' });
    await proxy.hang();
    await expect(claim.renew()).rejects.toThrow(code('LEASEHOLD_STORE_TIMEOUT'));
    await proxy.heal();
    expect(await claim.renew()).toEqual([]);
    const next = await deliveries.claim(pool);
    expect(next.rows).toHaveLength(1);
    next.close();
    claim.close();
  });

  test('has one limit for the wait for a connection and for the answer', async ({ database }) => {
    await createDeliveries(database, 1);
    const pool = new pg.Pool({ connectionString: database.connectionString, max: 1 });
    const claim = await deliveriesOf(database).claim(pool, { lease: '10s', statementTimeout: '1s' });
    const lent = await pool.connect();
    const started = performance.now();
    const renewal = claim.renew();
    const given = setTimeout(() => lent.release(), 700);
    const free = await lockRows(database.pool, `lock table ${database.schema}.deliveries in access exclusive mode`);
    await expect(renewal).rejects.toThrow(code('LEASEHOLD_STORE_TIMEOUT'));
    expect(performance.now() - started).toBeLessThan(1_600);
    clearTimeout(given);
    await free();
    claim.close();
    await pool.end();
  });

  test('behind a row lock ends in the server too, and leaves no queue of itself', async ({ database }) => {
    await createDeliveries(database, 1);
    const { pool } = await faultyPool(database);
    const claim = await deliveriesOf(database).claim(pool, { lease: '30s', statementTimeout: '1s' });
    const free = await lockRows(database.pool, `select from ${database.schema}.deliveries for update`);
    const fate = claim.finalize('1');
    let most = 0;
    const until = performance.now() + 3_000;
    await expect
      .poll(async () => {
        most = Math.max(most, (await busyBackends(database)).length);
        return performance.now() > until;
      })
      .toBe(true);
    expect(most).toBe(1);
    await free();
    expect(await fate).toBe('done');
  });

  test('behind a lock of the table claims nothing when its turn comes after it was given up', async ({ database }) => {
    await createDeliveries(database, 2);
    await database.query(`update ${database.schema}.deliveries set attempts = 5 where id = 1`);
    const { pool } = await faultyPool(database);
    const deliveries = deliveriesOf(database);
    (await deliveries.claim(pool, { where: sql`false` })).close();
    await database.query(`update ${database.schema}.deliveries set failed_at = null, lock_id = null`);
    const before = await rowsOf(database);
    const free = await lockRows(database.pool, `lock table ${database.schema}.deliveries in access exclusive mode`);
    await expect(deliveries.claim(pool, { lease: '3s', statementTimeout: '1s' })).rejects.toThrow(
      code('LEASEHOLD_STORE_TIMEOUT'),
    );
    await free();
    await expect.poll(() => busyBackends(database)).toHaveLength(0);
    expect(await rowsOf(database)).toEqual(before);
  });

  test('does not leave belief in a lease that the lost answer of a shorter renewal has changed', async ({ database }) => {
    await createDeliveries(database, 1);
    const { pool, proxy } = await faultyPool(database);
    const claim = await deliveriesOf(database).claim(pool, { lease: '5m', statementTimeout: '1s' });
    await proxy.dropReplies();
    await expect(claim.renew('1s')).rejects.toThrow(code('LEASEHOLD_STORE_TIMEOUT'));
    await proxy.heal();
    const [row] = await rowsOf(database);
    expect(Number(row?.locked_until) - Date.now()).toBeGreaterThan(claim.timeLeftMs);
    claim.close();
  });
});
