import { describe, expect, onTestFinished } from 'vitest';
import { sql, workTable, type WorkTable, type WorkTableOptions } from '@leasehold/core/work';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { createDeliveries, deliveriesOptions } from './support/bare-table.ts';

type Row = Record<string, unknown>;

const OPTIONS: Partial<WorkTableOptions> = {
  attempts: { column: 'attempts', max: 8 },
  done: { completed_at: sql`clock_timestamp()` },
  dead: { set: { completed_at: sql`clock_timestamp()` } },
};

async function create(database: TestDatabase, options: Partial<WorkTableOptions> = {}, more = ''): Promise<WorkTable<Row>> {
  await createDeliveries(database, more);
  const table = workTable<Row>(deliveriesOptions(database, { ...OPTIONS, ...options }));
  await database.query(table.ddl({ purgeIndex: 'completed_at' }));
  return table;
}

const invalid = (option: string): unknown => expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', option });

describe('purge()', () => {
  test('deletes what was finished long enough ago, batch by batch, and nothing else', async ({ database }) => {
    const table = await create(database);
    const { schema, query, pool } = database;
    await query(
      `insert into ${schema}.deliveries (completed_at, payload) select now() - interval '40 days', '"old"' from generate_series(1, 25)`,
    );
    await query(`insert into ${schema}.deliveries (completed_at, payload, created_at) values
      (now() - interval '20 days', '"young"', now()), (null, '"live"', now() - interval '1 year')`);
    expect(await table.purge(pool, { olderThan: '30d', batch: 10 })).toBe(25);
    expect(await query(`select payload from ${schema}.deliveries order by id`)).toEqual([
      { payload: 'young' },
      { payload: 'live' },
    ]);
    expect(await table.purge(pool, { olderThan: '30d', batch: 10 })).toBe(0);
  });

  test('waits for no lock', async ({ database }) => {
    const table = await create(database);
    const { schema, query, pool } = database;
    await query(`insert into ${schema}.deliveries (completed_at) select now() - interval '1 day' from generate_series(1, 5)`);
    const client = await pool.connect();
    onTestFinished(() => client.release(true));
    await client.query(`begin; update ${schema}.deliveries set payload = '1' where id = 2`);
    expect(await table.purge(pool, { olderThan: '1h', statementTimeout: '5s' })).toBe(4);
    await client.query('rollback');
    expect(await table.purge(pool, { olderThan: 0 })).toBe(1);
  });

  test('ends after the statement that runs when its signal aborts', async ({ database }) => {
    const table = await create(database);
    const { schema, query, pool } = database;
    await query(`insert into ${schema}.deliveries (completed_at) select now() - interval '1 day' from generate_series(1, 5)`);
    const controller = new AbortController();
    const client = {
      query: async (text: string, values?: unknown[]) => {
        controller.abort();
        return pool.query(text, values);
      },
    };
    expect(await table.purge(client, { olderThan: '1h', batch: 2, signal: controller.signal })).toBe(2);
    expect(await table.purge(client, { olderThan: '1h', batch: 2, signal: controller.signal })).toBe(0);
  });

  test('two at once delete each row once', async ({ database }) => {
    const table = await create(database);
    const { schema, query, pool } = database;
    await query(`insert into ${schema}.deliveries (completed_at) select now() - interval '1 day' from generate_series(1, 2000)`);
    const deleted = await Promise.all([1, 2, 3].map(() => table.purge(pool, { olderThan: '1h', batch: 50 })));
    expect(deleted.reduce((sum, one) => sum + one) + (await table.purge(pool, { olderThan: '1h' }))).toBe(2000);
    expect(await query(`select from ${schema}.deliveries`)).toEqual([]);
  });

  test('finds its rows by the purge index, however many are live', async ({ database }) => {
    const table = await create(database);
    const { schema, query, pool } = database;
    await query(`insert into ${schema}.deliveries (payload) select '1' from generate_series(1, 20000)`);
    await query(`insert into ${schema}.deliveries (completed_at) select now() - interval '1 day' from generate_series(1, 2000)`);
    await query(`vacuum analyze ${schema}.deliveries`);
    let plan = '';
    const client = {
      query: async (text: string, values?: unknown[]) => {
        const explained = await pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
        plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n');
        return { rows: [{ deleted: 0 }] };
      },
    };
    await table.purge(client, { olderThan: '1h', batch: 100 });
    expect(plan).toContain('deliveries_purge_');
    expect(plan).not.toContain('Seq Scan');
  });

  test('refuses what would delete more than was meant', async ({ database }) => {
    const table = workTable(deliveriesOptions(database));
    await expect(table.purge(database.pool, { olderThan: '30d' })).rejects.toEqual(invalid('column'));
    await expect(table.purge(database.pool, { olderThan: -1, column: 'x' })).rejects.toMatchObject({ option: 'olderThan' });
    await expect(table.purge(database.pool, { olderThan: '1d', column: 'x', batch: 0 })).rejects.toEqual(invalid('batch'));
    await expect(table.purge(database.pool, { olderThan: '1d', colum: 'x' } as never)).rejects.toEqual(invalid('colum'));
  });
});

describe('requeue()', () => {
  test('makes dead rows due now, with all their attempts, whatever they were', async ({ database }) => {
    const table = await create(database);
    const { schema, query, pool } = database;
    await query(`insert into ${schema}.deliveries (attempts, completed_at, lock_id, locked_until) values
      (8, now(), gen_random_uuid(), null), (3, null, null, now() + interval '1 day'), (2, null, gen_random_uuid(), now() - interval '1 s')`);
    expect(await table.requeue(pool, { ids: [1, '2', { id: 3n }], set: { completed_at: null } })).toBe(3);
    const rows = await query(
      `select distinct attempts, lock_id, locked_until <= clock_timestamp() as due, completed_at from ${schema}.deliveries`,
    );
    expect(rows).toEqual([{ attempts: 0, lock_id: null, due: true, completed_at: null }]);
  });

  test('never touches a row whose lease runs, and waits for no lock', async ({ database }) => {
    const table = await create(database);
    const { schema, query, pool } = database;
    await query(`insert into ${schema}.deliveries (attempts, lock_id, locked_until) values
      (1, gen_random_uuid(), now() + interval '1 minute'), (1, null, now() + interval '1 minute'), (1, null, null)`);
    const client = await pool.connect();
    onTestFinished(() => client.release(true));
    await client.query(`begin; select from ${schema}.deliveries where id = 3 for update`);
    expect(await table.requeue(pool, { where: sql`true`, statementTimeout: '5s' })).toBe(1);
    await client.query('rollback');
    expect(await query(`select id::int, attempts from ${schema}.deliveries order by id`)).toEqual([
      { id: 1, attempts: 1 },
      { id: 2, attempts: 0 },
      { id: 3, attempts: 1 },
    ]);
  });

  test('refuses to leave a row finished or past its deadline, and writes nothing then', async ({ database }) => {
    const table = await create(database, { deadline: 'expires_at' }, ', expires_at timestamptz');
    const { schema, query, pool } = database;
    await query(
      `insert into ${schema}.deliveries (attempts, completed_at, expires_at) values (5, now(), null), (5, now(), now())`,
    );
    const before = await query(`select * from ${schema}.deliveries`);
    const all = { where: sql`true` };
    await expect(table.requeue(pool, all)).rejects.toMatchObject({
      code: 'LEASEHOLD_INVALID_OPTION',
      message: expect.stringContaining('live (completed_at is null)'),
    });
    await expect(table.requeue(pool, { ...all, set: { completed_at: null } })).rejects.toMatchObject({
      code: 'LEASEHOLD_INVALID_OPTION',
      message: expect.stringContaining('set expires_at too'),
    });
    expect(await query(`select * from ${schema}.deliveries`)).toEqual(before);
    expect(await table.requeue(pool, { ...all, set: { completed_at: null, expires_at: null } })).toBe(2);
  });

  test('names bigint ids to the last digit, and refuses those that a number has cut', async ({ database }) => {
    const table = await create(database);
    const { schema, query, pool } = database;
    const ids = ['2147483648', '9007199254740993', '9223372036854775807'];
    await query(`insert into ${schema}.deliveries (id, attempts) overriding system value select unnest($1::bigint[]), 1`, [ids]);
    await query(`insert into ${schema}.deliveries (id, attempts) overriding system value values (9007199254740992, 1)`);
    expect(await table.requeue(pool, { ids: [2_147_483_648, 9_007_199_254_740_993n, '9223372036854775807'] })).toBe(3);
    expect(await query(`select id from ${schema}.deliveries where attempts = 1`)).toEqual([{ id: '9007199254740992' }]);
    await expect(table.requeue(pool, { ids: [2 ** 53] })).rejects.toEqual(invalid('ids'));
  });

  test('takes ids of several columns', async ({ database }) => {
    const { schema, query, pool } = database;
    await query(`create schema ${schema}; create table ${schema}.deliveries (tenant text, n integer, created_at timestamptz not null default now(),
      completed_at timestamptz, primary key (tenant, n))`);
    const table = workTable(deliveriesOptions(database, { id: ['tenant', 'n'] }));
    await query(table.ddl());
    await query(
      `insert into ${schema}.deliveries (tenant, n, completed_at) values ('a', 1, now()), ('a', 2, now()), ('b', 1, now())`,
    );
    const set = { completed_at: null };
    expect(
      await table.requeue(pool, {
        ids: [
          { tenant: 'a', n: 2 },
          { tenant: 'b', n: 1 },
        ],
        set,
      }),
    ).toBe(2);
    expect(await query(`select tenant, n from ${schema}.deliveries where completed_at is not null`)).toEqual([
      { tenant: 'a', n: 1 },
    ]);
    await expect(table.requeue(pool, { ids: [{ tenant: 'a' }] })).rejects.toEqual(invalid('ids'));
  });

  test('refuses to mean every row by saying nothing', async ({ database }) => {
    const table = await create(database);
    await expect(table.requeue(database.pool, {})).rejects.toEqual(invalid('where'));
    await expect(table.requeue(database.pool, { where: 'true' as never })).rejects.toEqual(invalid('where'));
    await expect(table.requeue(database.pool, { where: sql`true`, set: { lock_id: null } })).rejects.toEqual(invalid('set'));
  });
});

describe('counts()', () => {
  const ROWS = `(created_at, lock_id, locked_until, completed_at, attempts) values
    (now() - interval '1 hour', null, null, null, 0), (now() - interval '1 minute', null, null, null, 0),
    (now() + interval '1 hour', null, null, null, 0),
    (now() - interval '1 day', gen_random_uuid(), now() + interval '1 minute', null, 1),
    (now() - interval '1 day', gen_random_uuid(), now() - interval '1 minute', null, 1),
    (now() - interval '1 day', null, now() + interval '1 minute', null, 1), (now() - interval '1 day', null, now() - interval '2 hours', null, 1),
    (now() - interval '1 day', gen_random_uuid(), null, now(), 1)`;

  test('tells due, leased, waiting and expired rows apart', async ({ database }) => {
    const table = await create(database);
    await database.query(`insert into ${database.schema}.deliveries ${ROWS}`);
    const expected = {
      due: 4,
      leased: 1,
      waiting: 2,
      expired: 1,
      oldestDueMs: expect.closeTo(7_200_000, -5),
      isCapped: false,
      groups: [],
    };
    expect(await table.counts(database.pool)).toEqual(expected);
    expect(await table.counts(database.pool, { limit: 7 })).toEqual(expected);
  });

  test('of an empty table are zeros', async ({ database }) => {
    const table = await create(database);
    const zeros = { due: 0, leased: 0, waiting: 0, expired: 0, oldestDueMs: 0, isCapped: false, groups: [] };
    expect(await table.counts(database.pool)).toEqual(zeros);
  });

  test('say when they stopped at the limit', async ({ database }) => {
    const table = await create(database);
    await database.query(`insert into ${database.schema}.deliveries (payload) select '1' from generate_series(1, 30)`);
    const capped = await table.counts(database.pool, { limit: 10 });
    expect(capped.isCapped).toBe(true);
    expect(capped.due).toBeGreaterThanOrEqual(10);
    expect(capped.due).toBeLessThan(30);
  });

  test('for each group', async ({ database }) => {
    const table = await create(database, { groupBy: ['tenant'] }, ', tenant integer');
    await database.query(`insert into ${database.schema}.deliveries (tenant) values (1), (1), (2), (null)`);
    const { due, groups } = await table.counts(database.pool, { byGroup: true });
    expect(due).toBe(4);
    expect(groups.map(({ group, due: own }) => [group['tenant'], own]).toSorted()).toEqual(
      [
        ['1', 2],
        ['2', 1],
        [null, 1],
      ].toSorted(),
    );
    await expect(workTable(deliveriesOptions(database)).counts(database.pool, { byGroup: true })).rejects.toEqual(
      invalid('byGroup'),
    );
  });

  test('read no finished rows', async ({ database }) => {
    const table = await create(database);
    const { schema, query, pool } = database;
    await query(`insert into ${schema}.deliveries (completed_at) select now() from generate_series(1, 20000)`);
    await query(`insert into ${schema}.deliveries ${ROWS}`);
    await query(`vacuum analyze ${schema}.deliveries`);
    let plan = '';
    const client = {
      query: async (text: string, values?: unknown[]) => {
        const explained = await pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
        plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n');
        return { rows: [] };
      },
    };
    await table.counts(client);
    expect(plan).toContain('deliveries_claim_');
    expect(plan).not.toContain('Seq Scan');
  });
});

describe.for(['counts', 'purge'] as const)('%s()', (method) => {
  const call = async (database: TestDatabase, options: Partial<WorkTableOptions>): Promise<unknown> => {
    const table = workTable<Row>(deliveriesOptions(database, { ...OPTIONS, ...options }));
    return method === 'counts' ? table.counts(database.pool) : table.purge(database.pool, { olderThan: '1d' });
  };

  test('says that there is no such table', async ({ database }) => {
    await createDeliveries(database);
    const misspelt = call(database, { table: [database.schema, 'delivries'] });
    await expect(misspelt).rejects.toMatchObject({
      code: 'LEASEHOLD_WORK_TABLE',
      message: expect.stringContaining('there is no table'),
    });
  });

  test('says which column is missing', async ({ database }) => {
    await createDeliveries(database);
    const running = call(database, { live: sql`nowhere is null`, done: { nowhere: null } });
    await expect(running).rejects.toMatchObject({ code: 'LEASEHOLD_WORK_TABLE', message: expect.stringContaining('no column') });
  });

  test('leaves the words of PostgreSQL where the table is as it was told', async ({ database }) => {
    const table = await create(database);
    const client = await database.pool.connect();
    onTestFinished(() => client.release(true));
    await client.query(`begin; alter table ${database.schema}.deliveries drop column lock_id, drop column completed_at`);
    const running = method === 'counts' ? table.counts(client) : table.purge(client, { olderThan: '1d' });
    await expect(running).rejects.toMatchObject({ code: '42703' });
  });
});
