import { describe, expect } from 'vitest';
import { type Outcome, type SqlClient, sql } from '@leasehold/core/work';
import pg from 'pg';
import { test as onPostgres } from '../../../../test/support/database.ts';
import { test as behindPgBouncer } from '../../../../test/support/pgbouncer-test.ts';
import { createDeliveries, deliveriesOf, type Delivery, endLeases, rowsOf } from './support/deliveries.ts';

const OUTCOMES: readonly Outcome<Delivery>[] = [
  { row: '1', outcome: 'done', set: { payload: { a: [1, 'two', null] } } },
  { row: '2', outcome: 'retry', after: '1h', set: { error: `it's \\ "so"` } },
  { row: '3', outcome: 'release' },
  { row: '4', outcome: 'bury', reason: 'why', set: { payload: sql`jsonb_build_object('n', ${7}::int)` } },
];

/** Values become literals within the text, which goes over the simple protocol: for drivers and proxies that know nothing else. */
function simpleProtocol(pool: pg.Pool): SqlClient {
  const literal = (value: unknown): string => {
    if (value === null || value === undefined) return 'null';
    if (Array.isArray(value)) return `array[${value.map(literal).join(', ')}]`;
    return pg.escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value));
  };
  return {
    query: (text, values = []) => pool.query(text.replaceAll(/\$(\d+)/g, (_, n: string) => literal(values[Number(n) - 1]))),
  };
}

describe('behind PgBouncer in transaction mode', () => {
  behindPgBouncer('claims, renewals and settlements work', async ({ database, pgbouncer }) => {
    await createDeliveries(database, 4);
    const pool = new pg.Pool({ connectionString: pgbouncer.connectionString, max: 10 });
    const deliveries = deliveriesOf(database);
    const claims = await Promise.all([1, 2, 3, 4].map(() => deliveries.claim(pool, { limit: 1 })));
    expect(claims.map(({ rows }) => rows.length)).toEqual([1, 1, 1, 1]);
    expect(await Promise.all(claims.map((claim) => claim.renew('5m')))).toEqual([[], [], [], []]);
    const fates = await Promise.all(claims.map((claim) => claim.settle(OUTCOMES.filter(({ row }) => row === claim.rows[0]?.id))));
    expect(fates.flat()).toEqual(['done', 'done', 'done', 'done']);
    await pool.end();
  });

  behindPgBouncer('nothing stays behind in the session: neither a statement nor a setting', async ({ database, pgbouncer }) => {
    await createDeliveries(database, 1);
    const pool = new pg.Pool({ connectionString: pgbouncer.connectionString, max: 1 });
    const claim = await deliveriesOf(database).claim(pool);
    await claim.finalize('1');
    const { rows } = await pool.query(
      `select current_setting('lock_timeout') as lock_timeout, (select count(*)::int from pg_prepared_statements where from_sql is not null and name <> '') as named`,
    );
    expect(rows).toEqual([{ lock_timeout: '0', named: 0 }]);
    await pool.end();
  });

  behindPgBouncer('a row is finished within a transaction', async ({ database, pgbouncer }) => {
    await createDeliveries(database, 1);
    const pool = new pg.Pool({ connectionString: pgbouncer.connectionString });
    const claim = await deliveriesOf(database).claim(pool);
    const client = await pool.connect();
    await client.query('begin');
    expect(await claim.finalize('1', {}, { client, onLost: 'throw' })).toBe('done');
    await client.query('commit');
    client.release();
    expect((await rowsOf(database))[0]?.completed_at).not.toBeNull();
    await pool.end();
  });
});

describe('over the simple protocol', () => {
  onPostgres('every statement works: each value is cast by the text itself', async ({ database }) => {
    await createDeliveries(database, 4);
    const deliveries = deliveriesOf(database, { deadline: 'expires_at' });
    const client = simpleProtocol(database.pool);
    const late = await deliveries.claim(client, { limit: 4, where: sql`id <= ${4}::bigint`, onClaim: { error: 'under way' } });
    await endLeases(database);
    const claim = await deliveries.claim(client, { limit: 4 });
    expect(claim.rows.map(({ error }) => error)).toEqual(Array.from({ length: 4 }, () => 'under way'));
    expect(await late.renew()).toHaveLength(4);
    expect(await claim.renew()).toEqual([]);
    expect(await claim.settle(OUTCOMES)).toEqual(['done', 'done', 'done', 'done']);
    const rows = await rowsOf(database);
    expect(rows.slice(0, 4)).toMatchObject([
      { payload: { a: [1, 'two', null] } },
      { error: `it's \\ "so"` },
      { lock_id: null },
      { error: 'why', payload: { n: 7 } },
    ]);
  });
});
