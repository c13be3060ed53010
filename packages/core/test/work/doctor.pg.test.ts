import { readFileSync } from 'node:fs';
import { type DoctorOptions, type Finding, sql, workTable, type WorkTable, type WorkTableOptions } from '@leasehold/core/work';
import { expect, onTestFinished } from 'vitest';
import { findings } from '../../src/work/doctor/findings.ts';
import { claimIndex } from '../../src/work/ddl/indexes.ts';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { createDeliveries, deliveries, deliveriesOptions } from './support/bare-table.ts';

const OPTIONS: Partial<WorkTableOptions> = {
  attempts: { column: 'attempts', max: 8 },
  dead: { set: { completed_at: sql`clock_timestamp()` } },
};

async function create(database: TestDatabase, options: Partial<WorkTableOptions> = {}): Promise<WorkTable<object>> {
  await createDeliveries(database);
  const table = workTable(deliveriesOptions(database, { ...OPTIONS, ...options }));
  await database.query(table.ddl());
  return table;
}

function examine({ pool }: TestDatabase, table: WorkTable<object>, options?: DoctorOptions): Promise<readonly Finding[]> {
  return table.doctor(pool, options);
}

const the = (code: string, said = ''): Finding =>
  expect.objectContaining({ code, message: expect.stringContaining(said) }) as Finding;

/** Enough for the table and its indexes not to be small. */
async function fill(
  { query, schema }: TestDatabase,
  { live = 0, finished = 0 }: { live?: number; finished?: number },
): Promise<void> {
  await query(`insert into ${schema}.deliveries (payload) select '1' from generate_series(1, ${live})`);
  await query(`insert into ${schema}.deliveries (completed_at) select now() from generate_series(1, ${finished})`);
}

test('every finding is provoked here', () => {
  const source = readFileSync(import.meta.filename, 'utf8');
  expect(Object.keys(findings).filter((code) => !source.includes(`the('${code}'`))).toEqual([]);
});

test('a table that is as it should be has no findings, empty or full', async ({ database }) => {
  const table = await create(database);
  expect(await examine(database, table)).toEqual([]);
  await fill(database, { live: 20_000, finished: 5_000 });
  await database.query(`analyze ${database.schema}.deliveries`);
  expect(await examine(database, table)).toEqual([]);
});

test('a table that is not there, or lacks its lease columns', async ({ database }) => {
  const table = workTable(deliveriesOptions(database));
  expect(await examine(database, table)).toEqual([the('table-unfit', 'there is no table')]);
  await createDeliveries(database);
  expect(await examine(database, table)).toEqual([the('table-unfit', 'ddl()')]);
});

test.for([
  ['may be NULL', 'timestamptz', 'may be NULL'],
  ['is no timestamptz', 'timestamp not null default now()', 'with time zone'],
])('an orderBy that %s', async ([, type, said], { database }) => {
  await create(database);
  await database.query(`alter table ${database.schema}.deliveries add column due_at ${type}`);
  expect(await examine(database, workTable(deliveriesOptions(database, { orderBy: 'due_at' })))).toEqual([
    the('table-unfit', said),
  ]);
});

test('a live with a column that is not there', async ({ database }) => {
  await create(database);
  const table = workTable(deliveriesOptions(database, { live: sql`finished_at is null` }));
  expect(await examine(database, table)).toEqual([the('live-invalid', 'finished_at')]);
});

test.for([
  ['now()', sql`completed_at > now()`],
  ['a keyword', sql`completed_at > current_timestamp - interval '1 day'`],
  ['random', sql`"random" ( ) < 0.5 and payload::text <> 'lower(now())'`],
] as const)('a live that is not immutable: %s', async ([, live], { database }) => {
  await create(database);
  const found = await examine(database, workTable(deliveriesOptions(database, { live })));
  expect(found.slice(0, 2)).toEqual([the('live-not-immutable'), the('claim-index-missing')]);
});

test('a claim index that is missing, and those of another definition', async ({ database }) => {
  const old = await create(database);
  const { attempts: _without, ...others } = OPTIONS;
  const table = workTable(
    deliveriesOptions(database, { ...others, live: sql`completed_at is null and lower(payload::text) <> 'x'` }),
  );
  const found = await examine(database, table);
  expect(found).toEqual([
    the('claim-index-missing'),
    the('index-stale', claimIndex(deliveries(database, OPTIONS)).name),
    the('index-stale', 'deliveries_attempts_'),
  ]);
  // What is told to do is right.
  for (const { code, fix } of found) {
    if (code === 'index-stale') await database.query(/"((?:drop|alter) .*?)" once/.exec(fix)?.[1] ?? '');
  }
  await database.query(table.ddl());
  expect(await examine(database, table)).toEqual([]);
  expect(await examine(database, old)).toContainEqual(the('claim-index-missing'));
});

test('a claim index that a failed concurrent build left, and the way out of it', async ({ database }) => {
  await createDeliveries(database);
  const { schema, query, pool } = database;
  const table = workTable(deliveriesOptions(database));
  const [columns = '', validate = '', build = ''] = table.ddlStatements();
  await query(columns);
  await query(validate);
  // Whoever writes holds up the build, which is cut off then.
  const writer = await pool.connect();
  onTestFinished(() => writer.release(true));
  await writer.query(`begin; insert into ${schema}.deliveries (payload) values ('1')`);
  const builder = await pool.connect();
  onTestFinished(() => builder.release(true));
  await builder.query("set lock_timeout = '200ms'");
  await expect(builder.query(build)).rejects.toMatchObject({ code: '55P03' });
  expect(await examine(database, table)).toEqual([the('claim-index-invalid', 'not valid')]);
  await writer.query('rollback');
  for (const statement of table.ddlStatements()) await query(statement);
  expect(await examine(database, table)).toEqual([]);
});

test('a check that is missing or was never validated', async ({ database }) => {
  const table = await create(database);
  const { schema, query } = database;
  await query(`do $$ declare name text; begin
    for name in select conname from pg_constraint where conrelid = '${schema}.deliveries'::regclass and contype = 'c' loop
      execute format('alter table ${schema}.deliveries drop constraint %I', name);
    end loop; end $$`);
  expect(await examine(database, table)).toEqual([the('check-missing', 'does not have'), the('check-missing', 'does not have')]);
  await query(table.ddlStatements()[0] ?? '');
  expect(await examine(database, table)).toEqual([
    the('check-missing', 'never validated'),
    the('check-missing', 'never validated'),
  ]);
  await query(table.ddl());
  expect(await examine(database, table)).toEqual([]);
});

test('rows that no claim will reach', async ({ database }) => {
  const table = await create(database);
  const { schema, query } = database;
  await query(`insert into ${schema}.deliveries (lock_id, locked_until) values
    (gen_random_uuid(), 'infinity'), (gen_random_uuid(), now() + interval '2 days'), (null, now() + interval '11 years'),
    (gen_random_uuid(), now() + interval '23 hours'), (null, now() + interval '3 years')`);
  expect(await examine(database, table)).toEqual([the('rows-out-of-reach', '2 rows that are leased for more than a day, and 1')]);
});

test('an old transaction', async ({ database }) => {
  const table = await create(database);
  const client = await database.pool.connect();
  onTestFinished(() => client.release(true));
  await client.query('begin isolation level repeatable read; select 1');
  await expect
    .poll(() => examine(database, table, { oldSnapshot: '100ms' }))
    .toEqual([the('old-snapshot', 'idle in transaction')]);
  expect(await examine(database, table, { oldSnapshot: '1h' })).toEqual([]);
  await client.query('rollback');
});

test('autovacuum off, and the dead rows that it leaves', async ({ database }) => {
  const table = await create(database);
  const { schema, query } = database;
  await query(`alter table ${schema}.deliveries set (autovacuum_enabled = off)`);
  await fill(database, { live: 12_000 });
  await query(`analyze ${schema}.deliveries`);
  await query(`update ${schema}.deliveries set payload = '2'`);
  // The session tells its numbers when it is idle, at the latest after a while.
  await expect.poll(() => examine(database, table)).toEqual([the('autovacuum-off'), the('dead-rows')]);
});

test('a large table with the default settings of autovacuum', async ({ database }) => {
  const table = await create(database);
  const { schema, query } = database;
  await fill(database, { live: 100_000 });
  await query(`analyze ${schema}.deliveries`);
  expect(await examine(database, table)).toEqual([the('autovacuum-default')]);
  await query(table.ddl({ autovacuum: true }));
  expect(await examine(database, table)).toEqual([]);
});

test('a table that was never analyzed, and one with many finished rows', async ({ database }) => {
  const table = await create(database);
  const { schema, query } = database;
  await query(`alter table ${schema}.deliveries set (autovacuum_enabled = off)`);
  await fill(database, { live: 1_000, finished: 40_000 });
  expect(await examine(database, table)).toEqual([the('autovacuum-off'), the('never-analyzed')]);
  await query(`analyze ${schema}.deliveries`);
  expect(await examine(database, table)).toEqual([the('autovacuum-off'), the('purge-index-missing')]);
  await query(table.ddl({ purgeIndex: 'completed_at' }));
  expect(await examine(database, table)).toEqual([the('autovacuum-off')]);
});

test('a claim index that a backlog has left large', async ({ database }) => {
  const table = await create(database);
  const { schema, query } = database;
  await fill(database, { live: 50_000 });
  expect(await examine(database, table)).not.toContainEqual(the('claim-index-bloated'));
  await query(`update ${schema}.deliveries set completed_at = now()`);
  await query(`vacuum analyze ${schema}.deliveries`);
  const found = await examine(database, table);
  expect(found).toContainEqual(the('claim-index-bloated', '0 live rows'));
  await query(/"(reindex .*?)"\. A/.exec(found.find(({ code }) => code === 'claim-index-bloated')?.fix ?? '')?.[1] ?? '');
  expect(await examine(database, table)).not.toContainEqual(the('claim-index-bloated'));
});

test('a planner that does not use the claim index', async ({ database }) => {
  const table = await create(database);
  await fill(database, { live: 20_000 });
  await database.query(`analyze ${database.schema}.deliveries`);
  const client = await database.pool.connect();
  onTestFinished(() => client.release(true));
  await client.query('set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = off');
  const found = await table.doctor(client);
  expect(found).toEqual([the('claim-index-unused')]);
});

test('a statement that may outlast the lease', async ({ database }) => {
  const table = await create(database);
  expect(await examine(database, table, { lease: '1m' })).toEqual([the('statement-outlasts-lease', 'is off')]);
  const client = await database.pool.connect();
  onTestFinished(() => client.release(true));
  await client.query("set statement_timeout = '2min'");
  expect(await table.doctor(client, { lease: '1m' })).toEqual([the('statement-outlasts-lease', '120000 ms')]);
  expect(await table.doctor(client, { lease: '3m' })).toEqual([]);
});

test('options are checked', async ({ database }) => {
  const table = workTable(deliveriesOptions(database));
  await expect(table.doctor(database.pool, { leases: '1m' } as never)).rejects.toMatchObject({ option: 'leases' });
  await expect(table.doctor(database.pool, { lease: '1 minute' as never })).rejects.toMatchObject({ option: 'lease' });
});
