import { describe, expect, onTestFinished } from 'vitest';
import { type Outcome, type SqlClient, sql, workTable } from '@leasehold/core/work';
import pg from 'pg';
import { test } from '../../../../test/support/database.ts';
import { createDeliveries, deliveriesOf, type Delivery, endLeases, rowsOf } from './support/deliveries.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const OUTCOMES = ['done', 'retry', 'release', 'bury'] as const;

function outcomeOf(row: Delivery, index: number): Outcome<Delivery> {
  const outcome = OUTCOMES[index % OUTCOMES.length] ?? 'done';
  const error = `row ${row.id}`;
  if (outcome === 'retry') return { row, outcome, after: index, set: { error } };
  if (outcome === 'bury') return { row, outcome, reason: error };
  return { row, outcome, set: { error } };
}

/** The same client, and the texts that it was given. */
function recording(client: SqlClient): { client: SqlClient; texts: string[]; counts: number[] } {
  const texts: string[] = [];
  const counts: number[] = [];
  const query: SqlClient['query'] = (text, values) => {
    texts.push(text);
    counts.push(values?.length ?? 0);
    return client.query(text, values);
  };
  return { client: { query }, texts, counts };
}

describe('a list of outcomes', () => {
  test.for([[1], [2], [999], [1_000], [1_001], [10_000]])(
    'of %d rows tells the fate of each in the order asked',
    { timeout: 120_000 },
    async ([count = 0], { database }) => {
      await createDeliveries(database, count);
      const claim = await deliveriesOf(database).claim(database.pool, { limit: count, lease: '10m' });
      expect(claim.rows).toHaveLength(count);
      const gone = Math.ceil(count / 2);
      await database.query(`delete from ${database.schema}.deliveries where id = $1`, [gone]);
      const asked = claim.rows.map(outcomeOf).toReversed();
      const fates = await claim.settle(asked);
      const missing = asked.findIndex(({ row }) => (row as Delivery).id === String(gone));
      expect(fates.filter((fate, index) => fate !== (index === missing ? 'gone' : 'done'))).toEqual([]);
      const rows = await rowsOf(database);
      expect(rows.filter((row) => row.error !== `row ${row.id}`)).toEqual([]);
      expect(rows.filter((row) => row.locked_until !== null && row.lock_id !== null)).toEqual([]);
    },
  );

  test('of a hundred different fragments is settled by statements of bounded size', async ({ database }) => {
    await createDeliveries(database, 200);
    const claim = await deliveriesOf(database).claim(database.pool, { limit: 200 });
    const { client, texts } = recording(database.pool);
    const outcomes = claim.rows.map((row, n): Outcome<Delivery> => {
      return { row, outcome: 'done', set: { error: sql`'fragment ' || ${n % 100}::int` } };
    });
    expect(new Set(await claim.settle(outcomes, { client }))).toEqual(new Set(['done']));
    expect((await rowsOf(database)).map(({ error }) => error)).toEqual(claim.rows.map((_, n) => `fragment ${n % 100}`));
    expect(texts.length).toBeLessThan(10);
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThan(20_000);
  });

  test('with large fragments stays within what the protocol takes', async ({ database }) => {
    await createDeliveries(database, 8);
    const claim = await deliveriesOf(database).claim(database.pool);
    const { client, counts } = recording(database.pool);
    const outcomes = claim.rows.map((row, n): Outcome<Delivery> => {
      const strings = ['array_length(array[', ...Array.from({ length: 9_999 }, () => '::int, '), '::int], 1)::text'];
      return { row, outcome: 'done', set: { error: sql(strings, ...Array.from({ length: 10_000 }, () => n)) } };
    });
    expect(new Set(await claim.settle(outcomes, { client }))).toEqual(new Set(['done']));
    expect(Math.max(...counts)).toBeLessThan(65_536);
    expect((await rowsOf(database)).map(({ error }) => error)).toEqual(claim.rows.map(() => '10000'));
  });

  test('with large values of every kind is settled by statements of bounded size', async ({ database }) => {
    await createDeliveries(database, 60);
    await database.query(`alter table ${database.schema}.deliveries add b bytea`);
    const claim = await deliveriesOf(database).claim(database.pool, { limit: 60, lease: '5m' });
    const sizes: number[] = [];
    const client: SqlClient = {
      query: (text, values = []) => {
        sizes.push(JSON.stringify(values).length);
        return database.pool.query(text, [...values]);
      },
    };
    const outcomes = claim.rows.map((row, n): Outcome<Delivery> => {
      const text = String(n).padEnd(1_000_000, '-');
      const set = [{ error: text }, { payload: { in: [text] } }, { b: Buffer.from(text.slice(0, 500_000)) }][n % 3] ?? {};
      return { row, outcome: 'done', set };
    });
    expect(new Set(await claim.settle(outcomes, { client }))).toEqual(new Set(['done']));
    expect(Math.max(...sizes)).toBeLessThan(17_000_000);
    const read = sql`split_part(coalesce(error, payload -> 'in' ->> 0, convert_from(b, 'utf8')), '-', 1) as n`;
    const rows = await database.query(`select ${read.sql} from ${database.schema}.deliveries order by id`);
    expect(rows.map(({ n }) => n)).toEqual(claim.rows.map((_, n) => String(n)));
    claim.close();
  });

  test('writes each row its own value, though the fragments read alike', async ({ database }) => {
    await createDeliveries(database, 8);
    const claim = await deliveriesOf(database).claim(database.pool);
    const alike: unknown[] = [{ a: 1 }, { a: 2 }, new Date(1_000), new Date(1_001), ['1,2'], ['1', '2'], 'null', null];
    const outcomes = claim.rows.map((row, n): Outcome<Delivery> => {
      return { row, outcome: 'done', set: { error: sql`coalesce(${alike[n]}::text, '-')` } };
    });
    await claim.settle(outcomes);
    const { rows } = await database.pool.query(
      `select ${alike.map((_, n) => `coalesce($${n + 1}::text, '-') as a${n}`).join(', ')}`,
      alike,
    );
    expect((await rowsOf(database)).map(({ error }) => error)).toEqual(Object.values(rows[0]));
  });

  test('is refused whole when a row is in it twice, is settled already, or is of nobody', async ({ database }) => {
    await createDeliveries(database, 3);
    const claim = await deliveriesOf(database).claim(database.pool);
    const [first, second] = claim.rows;
    const done = (row: unknown): Outcome<Delivery> => ({ row: row as Delivery, outcome: 'done' });
    await expect(claim.settle([done(first), done('1')])).rejects.toThrow(code('LEASEHOLD_ALREADY_SETTLED'));
    await expect(claim.settle([done(first), done('99')])).rejects.toThrow(code('LEASEHOLD_UNKNOWN_ROW'));
    await claim.finalize('1');
    await expect(claim.settle([done(second), done('1')])).rejects.toThrow(code('LEASEHOLD_ALREADY_SETTLED'));
    expect((await rowsOf(database)).map((row) => row.completed_at === null)).toEqual([false, true, true]);
    claim.close();
  });

  test('settles a row once, though two calls ask at the same moment', async ({ database }) => {
    await createDeliveries(database, 1);
    const claim = await deliveriesOf(database).claim(database.pool);
    const both = await Promise.allSettled([claim.finalize('1'), claim.bury('1')]);
    expect(both).toMatchObject([{ value: 'done' }, { reason: { code: 'LEASEHOLD_ALREADY_SETTLED' } }]);
    expect((await rowsOf(database))[0]).toMatchObject({ failed_at: null });
  });

  test('leaves a row that is being settled to that, when the claim is disposed of', async ({ database }) => {
    await createDeliveries(database, 2);
    const claim = await deliveriesOf(database).claim(database.pool);
    const fate = claim.finalize('1');
    await claim[Symbol.asyncDispose]();
    expect(await fate).toBe('done');
    expect(await rowsOf(database)).toMatchObject([
      { attempts: 1, lock_id: claim.id },
      { attempts: 0, lock_id: null, locked_until: null },
    ]);
  });

  test('says that a finished row is live for all that', async ({ database }) => {
    await createDeliveries(database, 2);
    const claim = await deliveriesOf(database, { done: {} }).claim(database.pool);
    await expect(claim.finalize('1')).rejects.toThrow(code('LEASEHOLD_ROW_STILL_LIVE'));
    expect(await claim.finalize('2', { completed_at: sql`now()` })).toBe('done');
  });
});

describe('what writes the id itself', () => {
  test.for(OUTCOMES)('moves a row to another partition, and is told for what it was: %s', async (outcome, { database }) => {
    const { query, pool, schema } = database;
    await query(`create schema ${schema}`);
    await query(`
      create table ${schema}.parted (
        id int, state text default 'live', created_at timestamptz not null default now() - interval '1 minute', error text,
        lock_id uuid, locked_until timestamptz, primary key (id, state)
      ) partition by list (state)`);
    await query(`create table ${schema}.parted_live partition of ${schema}.parted for values in ('live')`);
    await query(`create table ${schema}.parted_rest partition of ${schema}.parted default`);
    await query(`insert into ${schema}.parted (id) select generate_series(1, 6)`);
    const parted = workTable({
      table: [schema, 'parted'],
      id: ['id', 'state'],
      orderBy: 'created_at',
      live: sql`state = 'live'`,
      done: { state: 'done' },
      dead: { set: { state: 'dead' } },
    });
    const claim = await parted.claim(pool);
    await query(`update ${schema}.parted set lock_id = gen_random_uuid() where id = 1`);
    await query(`delete from ${schema}.parted where id = 2`);
    const more =
      outcome === 'retry' ? { after: '1h', set: { state: 'later' } } : outcome === 'release' ? { set: { state: 'free' } } : {};
    const fates = await claim.settle(claim.rows.map((row) => ({ row, outcome, ...more }) as Outcome));
    const fateOf = (id: unknown): string => (id === 1 ? 'lost' : id === 2 ? 'gone' : 'done');
    expect(fates).toEqual(claim.rows.map((row) => fateOf(Reflect.get(row, 'id'))));
    const state = { done: 'done', retry: 'later', release: 'free', bury: 'dead' }[outcome];
    const rows = await query(`select state from ${schema}.parted order by id`);
    expect(rows.map((row) => row['state'])).toEqual(['live', state, state, state, state]);
    claim.close();
  });

  test('tells the row by the id that it had, where that is one column', async ({ database }) => {
    await createDeliveries(database, 3);
    await database.query(`alter table ${database.schema}.deliveries alter id drop identity`);
    const claim = await deliveriesOf(database).claim(database.pool);
    await database.query(`delete from ${database.schema}.deliveries where id = 2`);
    const outcomes = claim.rows.map((row): Outcome<Delivery> => ({ row, outcome: 'done', set: { id: sql`id + 100` } }));
    expect(await claim.settle(outcomes)).toEqual(['done', 'gone', 'done']);
    expect((await rowsOf(database)).map(({ id }) => id)).toEqual(['101', '103']);
  });
});

test.for(['read committed', 'repeatable read', 'serializable'])(
  'a settlement that waits, at %s, for rows that the application changes gives each row its own value and fate',
  async (level, { database }) => {
    await createDeliveries(database, 6);
    const { connectionString, query, schema } = database;
    const pool = new pg.Pool({ connectionString, options: `-c default_transaction_isolation=${level.replace(' ', '\\ ')}` });
    onTestFinished(() => pool.end());
    const claim = await deliveriesOf(database).claim(pool);
    const application = await database.pool.connect();
    await application.query(`begin; update ${schema}.deliveries set lock_id = gen_random_uuid() where id = 2`);
    await application.query(`delete from ${schema}.deliveries where id = 4`);
    await application.query(`update ${schema}.deliveries set payload = '"edited"' where id = 5`);
    const fates = claim.settle(
      claim.rows.map((row): Outcome<Delivery> => ({ row, outcome: 'done', set: { error: `row ${row.id}` } })),
    );
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%${schema}%'`;
    await expect.poll(() => query(waiting)).toHaveLength(1);
    await application.query('commit');
    application.release();
    expect(await fates).toEqual(['done', 'lost', 'done', 'gone', 'done', 'done']);
    const rows = await rowsOf(database);
    expect(rows.map(({ error }) => error)).toEqual(['row 1', null, 'row 3', 'row 5', 'row 6']);
    expect(rows[3]?.payload).toBe('edited');
  },
);

describe('two settlements of the same rows', () => {
  test('in opposite order wait for each other, and never in a circle', { timeout: 120_000 }, async ({ database }) => {
    await createDeliveries(database, 20);
    const deliveries = deliveriesOf(database, { attempts: { column: 'attempts', max: 1_000 } });
    const all = { limit: 20 };
    for (let round = 0; round < 200; round += 1) {
      const stale = await deliveries.claim(database.pool, all);
      await endLeases(database);
      const current = await deliveries.claim(database.pool, all);
      const outcomes = current.rows.map(({ id }): Outcome<Delivery> => ({ row: id, outcome: 'retry', after: 0 }));
      const fates = await Promise.all([stale.settle(outcomes.toReversed()), current.settle(outcomes)]);
      expect(fates.map((list) => [...new Set(list)])).toEqual([['lost'], ['done']]);
    }
  });
});
