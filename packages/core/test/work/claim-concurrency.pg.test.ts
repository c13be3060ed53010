import pg from 'pg';
import { describe, expect, onTestFinished } from 'vitest';
import { test, type TestDatabase } from '../../../../test/support/database.ts';
import { addTasks, createTasks, type Form, FORMS, type Task, tasksOf } from './support/tasks.ts';

const FORM_NAMES = Object.keys(FORMS) as Form[];
const WORKERS = 8;
const ROWS = 2_000;
const DEADLINE_MS = 25_000;

async function connect({ connectionString }: TestDatabase): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Rows of 10 tenants, 2 regions and 5 priorities, of which three are listed. */
async function addMixture({ query, schema }: TestDatabase, count: number): Promise<void> {
  await query(
    `insert into ${schema}.tasks (tenant, region, priority, created_at)
     select nullif('t' || n % 10, 't0'), n % 2, n % 5, clock_timestamp() - interval '1 hour' + n * interval '1 microsecond'
     from generate_series(1, $1::int) n`,
    [count],
  );
}

describe('claims at the same time', () => {
  test.for(FORM_NAMES)('share the rows out, each once, in the form %s', async (form, { database }) => {
    await createTasks(database, form);
    await addMixture(database, ROWS);
    const got: string[] = [];
    const errors: unknown[] = [];
    const until = performance.now() + DEADLINE_MS;
    const work = async (): Promise<void> => {
      const [client, tasks] = [await connect(database), tasksOf(database, form)];
      while (got.length < ROWS && performance.now() < until) {
        const claim = await tasks.claim(client, { limit: 40 });
        claim.close();
        got.push(...claim.rows.map(({ id }) => id));
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, () => work().catch((error: unknown) => errors.push(error))));
    expect(errors).toEqual([]);
    expect(got).toHaveLength(ROWS);
    expect(new Set(got).size).toBe(ROWS);
  });

  test.for(FORM_NAMES)('pass by a row that is locked, but for a reference to it, in the form %s', async (form, { database }) => {
    const { query, schema } = database;
    await createTasks(database, form);
    await addMixture(database, 6);
    await query(`create table ${schema}.notes (task bigint not null references ${schema}.tasks)`);
    const [locking, referring] = [await connect(database), await connect(database)];
    await locking.query(`begin; select from ${schema}.tasks where id in (2, 3) for update`);
    await referring.query(`begin; insert into ${schema}.notes values (1), (4)`);
    const tasks = tasksOf(database, form);
    const claim = await tasks.claim(database.pool, { limit: 6 });
    claim.close();
    expect(claim.rows.map(({ id }) => id).toSorted()).toEqual(['1', '4', '5', '6']);
    await Promise.all([locking.query('rollback'), referring.query('commit')]);
    const rest = await tasks.claim(database.pool, { limit: 6 });
    rest.close();
    expect(rest.rows.map(({ id }) => id).toSorted()).toEqual(['2', '3']);
  });

  test.for(FORM_NAMES)(
    'give no row twice to a transaction with an older snapshot, in the form %s',
    async (form, { database }) => {
      await createTasks(database, form);
      await addMixture(database, 20);
      const older = await connect(database);
      await older.query('begin isolation level repeatable read');
      await older.query(`select count(*) from ${database.schema}.tasks`);
      const tasks = tasksOf(database, form);
      const first = await tasks.claim(database.pool, { limit: 10 });
      first.close();
      expect(first.rows).toHaveLength(10);
      const late = await tasks.claim(older, { limit: 10 }).then(
        (claim): readonly Task[] => {
          claim.close();
          return claim.rows;
        },
        (error: { code?: string }) => String(error.code),
      );
      await older.query('rollback');
      // The rows of the first claim look due to it: it may not have them, and may not pass by what it cannot judge.
      if (typeof late === 'string') expect(late).toBe('40001');
      else expect(late.filter((row) => first.rows.some(({ id }) => id === row.id))).toEqual([]);
    },
  );

  test('while a backlog is claimed by others, each group is served', async ({ database }) => {
    await createTasks(database, 'group');
    await addTasks(database, { count: 5_000, tenant: 'a' });
    for (const tenant of ['b', 'c', null]) await addTasks(database, { count: 1, tenant });
    const claims = await Promise.all(
      Array.from({ length: WORKERS }, async () => {
        const client = await connect(database);
        const claim = await tasksOf(database, 'group').claim(client, { limit: 50 });
        claim.close();
        return claim.rows;
      }),
    );
    expect(claims.map((rows) => rows.length)).toEqual(claims.map(() => 50));
    const tenants = new Set(claims.flat().map(({ tenant }) => tenant));
    expect(tenants).toEqual(new Set(['a', 'b', 'c', null]));
  });
});
