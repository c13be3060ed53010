import { describe, expect, onTestFinished } from 'vitest';
import { ddl, ddlStatements } from '../../src/work/ddl/ddl.ts';
import { claimIndex, purgeIndex } from '../../src/work/ddl/indexes.ts';
import { sql } from '../../src/work/sql.ts';
import { resolveWorkTable } from '../../src/work/resolve-work-table.ts';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { catalogOf, createDeliveries, deliveries } from './support/bare-table.ts';

const ATTEMPTS = { attempts: { column: 'attempts', max: 8 }, dead: { set: { completed_at: sql`clock_timestamp()` } } };

/** What PostgreSQL says when it is refused. */
async function refusal(running: Promise<unknown>): Promise<{ code: string; message: string; hint: string }> {
  const error = await running.then(
    () => ({ code: 'nothing', message: 'it was accepted', hint: '' }),
    (caught: { code: string; message: string; hint: string }) => caught,
  );
  return { code: error.code, message: error.message, hint: error.hint };
}

async function indexNames({ query, schema }: TestDatabase): Promise<string[]> {
  const rows = await query('select indexname as name from pg_indexes where schemaname = $1 order by 1', [schema]);
  return rows.map(({ name }) => String(name));
}

describe('ddl()', () => {
  test('adds the lease columns, the checks and the indexes', async ({ database }) => {
    await createDeliveries(database);
    await database.query(ddl(deliveries(database, ATTEMPTS), { purgeIndex: 'completed_at', autovacuum: true }));
    const seen = JSON.stringify(await catalogOf(database), (key, value: unknown) => (key === 'file' ? undefined : value), 2);
    await expect(`${seen.replaceAll(`${database.schema}.`, '')}\n`).toMatchFileSnapshot('catalog.json');
  });

  test('changes nothing when it is run again, and takes no lock on the table', async ({ database }) => {
    await createDeliveries(database);
    const text = ddl(deliveries(database, ATTEMPTS), { purgeIndex: 'completed_at', autovacuum: true });
    await database.query(text);
    const before = await catalogOf(database);
    const client = await database.pool.connect();
    onTestFinished(() => client.release(true));
    await client.query(`begin; lock table ${database.schema}.deliveries in access exclusive mode`);
    await database.query(`set statement_timeout = '2s'; ${text} reset statement_timeout`);
    await client.query('rollback');
    expect(await catalogOf(database)).toEqual(before);
  });

  test.for(['read committed', 'repeatable read'])('ten at once all succeed under %s', async (isolation, { database }) => {
    await createDeliveries(database);
    await database.query(`insert into ${database.schema}.deliveries (payload) select '1' from generate_series(1, 20000)`);
    const text = ddl(deliveries(database, ATTEMPTS), { purgeIndex: 'completed_at', autovacuum: true });
    const begin = `begin isolation level ${isolation}`;
    await Promise.all(Array.from({ length: 10 }, () => database.query(`${begin}; ${text} commit`)));
    expect(await indexNames(database)).toHaveLength(3);
  });

  test('ten at once add an index to a table that has the rest', async ({ database }) => {
    await createDeliveries(database);
    await database.query(`insert into ${database.schema}.deliveries (payload) select '1' from generate_series(1, 20000)`);
    await database.query(ddl(deliveries(database, ATTEMPTS)));
    const text = ddl(deliveries(database, { ...ATTEMPTS, live: sql`completed_at is null and true` }), {
      purgeIndex: 'completed_at',
    });
    await Promise.all(Array.from({ length: 10 }, () => database.query(text)));
    expect(await indexNames(database)).toHaveLength(4);
  });

  test('waits for another that is at it for as long as that takes, and not with the lock_timeout of the table', async ({
    database,
  }) => {
    await createDeliveries(database);
    const text = ddl(deliveries(database));
    const client = await database.pool.connect();
    onTestFinished(() => client.release(true));
    await client.query('begin');
    await client.query(text);
    const second = database.query(text);
    const waits = `select distinct locktype from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`;
    await expect.poll(() => database.query(waits)).toEqual([{ locktype: 'advisory' }]);
    await client.query('commit');
    await second;
    expect(await indexNames(database)).toHaveLength(2);
  });

  test('is given up when the table stays locked, and leaves nothing half done', async ({ database }) => {
    await createDeliveries(database);
    const before = await catalogOf(database);
    const client = await database.pool.connect();
    onTestFinished(() => client.release(true));
    await client.query(`begin; insert into ${database.schema}.deliveries (payload) values (null)`);
    const text = ddl(deliveries(database), { purgeIndex: 'completed_at' });
    const error = await refusal(database.query(`set lock_timeout = '100ms'; ${text}`));
    expect(error).toEqual({
      code: '55P03',
      message: expect.stringContaining('in use by another transaction'),
      hint: expect.stringContaining('lock_timeout'),
    });
    await client.query('rollback');
    expect(await catalogOf(database)).toEqual(before);
    await database.query(text);
    expect(await indexNames(database)).toHaveLength(3);
  });

  test('leaves the lock_timeout of the transaction as it was', async ({ database }) => {
    await createDeliveries(database);
    const client = await database.pool.connect();
    onTestFinished(() => client.release(true));
    await client.query('begin');
    await client.query(ddl(deliveries(database)));
    expect((await client.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
    await client.query('rollback');
  });

  test('is one statement, which the extended protocol takes too', async ({ database }) => {
    await createDeliveries(database);
    await database.pool.query({ text: ddl(deliveries(database)), queryMode: 'extended' } as { text: string });
    expect(await indexNames(database)).toHaveLength(2);
  });

  test('with another definition it adds the new index beside the old one, for the instances that still use that', async ({
    database,
  }) => {
    await createDeliveries(database);
    const [old, current] = [
      deliveries(database),
      deliveries(database, { live: sql`completed_at is null and payload is not null` }),
    ];
    await database.query(ddl(old));
    await database.query(ddl(current));
    expect(await indexNames(database)).toEqual([claimIndex(old).name, claimIndex(current).name, 'deliveries_pkey'].toSorted());
  });

  test('builds anew what a failed concurrent build left', async ({ database }) => {
    await createDeliveries(database);
    const table = deliveries(database);
    const { name } = claimIndex(table);
    await database.query(ddl(table));
    await database.query(`update pg_index set indisvalid = false where indexrelid = '${database.schema}.${name}'::regclass`);
    await database.query(ddl(table));
    expect(
      await database.query(`select indisvalid from pg_index where indexrelid = '${database.schema}.${name}'::regclass`),
    ).toEqual([{ indisvalid: true }]);
  });

  test('lets the application requeue and clear by hand', async ({ database }) => {
    await createDeliveries(database);
    const { query, schema } = database;
    await query(ddl(deliveries(database, ATTEMPTS), { purgeIndex: 'completed_at' }));
    await query(`insert into ${schema}.deliveries (attempts, completed_at, lock_id, locked_until) values
      (8, clock_timestamp(), gen_random_uuid(), null), (8, null, null, clock_timestamp() + interval '1 day')`);
    await query(`update ${schema}.deliveries set attempts = 0, completed_at = null, lock_id = null, locked_until = null`);
    await expect(query(`insert into ${schema}.deliveries (attempts) values (-1)`)).rejects.toMatchObject({ code: '23514' });
  });

  test('works on a partitioned table', async ({ database }) => {
    const { query, schema } = database;
    await query(`create schema ${schema}; create table ${schema}.deliveries (id bigint, created_at timestamptz not null, completed_at timestamptz,
        primary key (id, created_at)) partition by range (created_at);
      create table ${schema}.old partition of ${schema}.deliveries for values from (minvalue) to ('2020-01-01');
      create table ${schema}.new partition of ${schema}.deliveries for values from ('2020-01-01') to (maxvalue)`);
    const table = deliveries(database, { id: ['id', 'created_at'] });
    await query(ddl(table, { autovacuum: true, purgeIndex: 'completed_at' }));
    const before = await catalogOf(database);
    await query(ddl(table, { autovacuum: true, purgeIndex: 'completed_at' }));
    expect(await catalogOf(database)).toEqual(before);
    const options = await query(`select reloptions from pg_class where oid = '${schema}.old'::regclass`);
    expect(options).toEqual([{ reloptions: expect.arrayContaining(['autovacuum_vacuum_scale_factor=0.01']) }]);
    expect(await refusal(query(ddlStatements(table)[0] ?? ''))).toMatchObject({
      code: '0A000',
      hint: expect.stringContaining('ddl()'),
    });
  });
});

describe('ddl() refuses', () => {
  test('a table that is not there', async ({ database }) => {
    expect(await refusal(database.query(ddl(deliveries(database))))).toMatchObject({
      code: '42P01',
      message: expect.stringContaining('there is no table'),
    });
  });

  test('a view', async ({ database }) => {
    await database.query(`create schema ${database.schema}; create view ${database.schema}.deliveries as select 1 as id`);
    expect(await refusal(database.query(ddl(deliveries(database))))).toMatchObject({ code: '42809' });
  });

  test.for([
    ['a lock_id that is text', ', lock_id text', {}, '42804', 'columns.lockId'],
    ['a timestamp without time zone', ', at timestamp not null default now()', { orderBy: 'at' }, '42804', 'orderBy'],
    ['lease columns that are never null', ', locked_until timestamptz not null', {}, '42P16', 'allow NULL'],
    ['attempts that may be NULL', ', tries integer', { ...ATTEMPTS, attempts: { column: 'tries', max: 3 } }, '42P16', 'tries'],
    ['an orderBy that may be NULL', ', due_at timestamptz', { orderBy: 'due_at' }, '42P16', 'due_at'],
    ['a live that asks the clock', '', { live: sql`completed_at > now()` }, '42P17', 'live'],
    ['an orderBy that is not there', '', { orderBy: 'createdAt' }, '42703', `no column "createdAt", which is named by 'orderBy'`],
    ['an id that is not there', '', { id: ['id', 'shop'] }, '42703', `no column shop, which is named by 'id'`],
    [
      'a column of done that is not there',
      '',
      { done: { done_at: null } },
      '42703',
      `no column done_at, which is named by 'done'`,
    ],
    ['an id that nothing makes unique', '', { id: 'attempts' }, '42P16', 'nothing makes the id (attempts) of'],
    ['attempts that are not there', '', { ...ATTEMPTS, attempts: { column: 'tries', max: 3 } }, '42703', `named by 'attempts'`],
  ] as const)('%s, naming it', async ([, more, options, code, named], { database }) => {
    await createDeliveries(database, more);
    const before = await catalogOf(database);
    expect(await refusal(database.query(ddl(deliveries(database, options))))).toMatchObject({
      code,
      message: expect.stringContaining(named),
    });
    expect(await catalogOf(database)).toEqual(before);
  });

  test('rows that break a check, changing nothing', async ({ database }) => {
    await createDeliveries(database);
    await database.query(`insert into ${database.schema}.deliveries (attempts) values (-1)`);
    const before = await catalogOf(database);
    const error = await refusal(database.query(ddl(deliveries(database, ATTEMPTS))));
    expect(error).toMatchObject({ code: '23514', message: expect.stringContaining('nothing was changed') });
    expect(await catalogOf(database)).toEqual(before);
  });

  test('an index name that something else has', async ({ database }) => {
    await createDeliveries(database);
    const table = deliveries(database);
    await database.query(`create table ${database.schema}.${claimIndex(table).name} ()`);
    expect(await refusal(database.query(ddl(table)))).toMatchObject({
      code: '42P07',
      message: expect.stringContaining('is taken'),
    });
  });
});

describe('ddlStatements()', () => {
  test('come to the same as ddl(), and may be run again', async ({ database }) => {
    await createDeliveries(database);
    const { query, schema } = database;
    await query(`insert into ${schema}.deliveries (payload) values ('1')`);
    const options = { purgeIndex: 'completed_at', autovacuum: true };
    const statements = ddlStatements(deliveries(database, ATTEMPTS), options);
    for (const statement of statements) await query(statement);
    const before = await catalogOf(database);
    for (const statement of statements) await query(statement);
    await query(ddl(deliveries(database, ATTEMPTS), options));
    expect(await catalogOf(database)).toEqual(before);
    expect(await query(`select from pg_constraint where connamespace = '${schema}'::regnamespace and not convalidated`)).toEqual(
      [],
    );
  });

  test('may end as a deadlock when several run them at once, and come right when they are run again', async ({ database }) => {
    await createDeliveries(database);
    await database.query(`insert into ${database.schema}.deliveries (payload) select '1' from generate_series(1, 20000)`);
    const table = deliveries(database);
    const run = async (): Promise<void> => {
      for (const statement of ddlStatements(table)) await database.query(statement);
    };
    const ends = await Promise.allSettled([run(), run(), run()]);
    const codes = ends.map((end) => (end.status === 'fulfilled' ? 'done' : (end.reason as { code: string }).code));
    expect(codes.filter((code) => !['done', '40P01', '55000'].includes(code))).toEqual([]);
    await run();
    await database.query(ddl(table));
    expect(
      await database.query(`select indisvalid from pg_index where indrelid = '${database.schema}.deliveries'::regclass`),
    ).toEqual([{ indisvalid: true }, { indisvalid: true }]);
  });

  test('say when a name was taken, which create index if not exists passes over', async ({ database }) => {
    await createDeliveries(database);
    const table = deliveries(database);
    await database.query(`create table ${database.schema}.${claimIndex(table).name} ()`);
    const run = async (): Promise<void> => {
      for (const statement of ddlStatements(table)) await database.query(statement);
    };
    expect(await refusal(run())).toMatchObject({ code: '55000', message: expect.stringContaining('not valid') });
  });
});

describe('any name', () => {
  const long = 'x'.repeat(63);
  test.for([
    ['quotes and dots', 'My "odd".Table\'s', 'A "column".'],
    ['63 bytes', long, long],
    ['63 bytes of several bytes each', 'ß'.repeat(31), '界'.repeat(21)],
    ['dollars and backslashes', '$leasehold$\\', "$leasehold$ \\'; drop"],
    ['format signs', '%s %I', '%L'],
    ['reserved words', 'table', 'order'],
  ] as const)('of %s', async ([, name, column], { database }) => {
    const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const { schema, query } = database;
    await query(`create schema ${schema}; create table ${schema}.${quote(name)} (${quote(column)} bigint primary key, "due AT" timestamptz not null,
      finished boolean not null default false)`);
    const [lockId, lockedUntil] = [`${column.slice(0, 20)}1`, `${column.slice(0, 20)}2`];
    const table = resolveWorkTable({
      table: [schema, name],
      id: column,
      orderBy: 'due AT',
      columns: { lockId, lockedUntil },
      live: sql`not finished and ${sql`'$leasehold$' <> 'it''s'`}`,
    });
    const options = { purgeIndex: column, autovacuum: true };
    await query(ddl(table, options));
    const before = await catalogOf(database);
    await query(ddl(table, options));
    for (const statement of ddlStatements(table, options)) await query(statement);
    expect(await catalogOf(database)).toEqual(before);
    const names = await indexNames(database);
    expect(names).toContain(claimIndex(table).name);
    expect(names).toContain(purgeIndex(table, column).name);
  });
});
