import { describe, expect } from 'vitest';
import type { Group } from '../../src/work/statements/claim-request.ts';
import { test, type TestDatabase } from '../../../../test/support/database.ts';
import { claimStatement, describeTable } from './support/plans.ts';
import { addTasks, countBy, createTasks, taskOptions, tasksOf } from './support/tasks.ts';

describe('a claim from one group', () => {
  test('takes rows of that group alone, NULL being one', async ({ database }) => {
    await createTasks(database, 'groups');
    await addTasks(database, { count: 2, tenant: 'a', region: 1 });
    await addTasks(database, { count: 3, tenant: 'a', region: null });
    await addTasks(database, { count: 4, tenant: null, region: 1 });
    const tasks = tasksOf(database, 'groups');
    const claimOf = async (tenant: string | null, region: number | null): Promise<number> => {
      const claim = await tasks.claim(database.pool, { limit: 50, group: { tenant, region } });
      claim.close();
      expect(claim.rows.every((row) => row.tenant === tenant && row.region === region)).toBe(true);
      return claim.rows.length;
    };
    expect(await claimOf('a', 1)).toBe(2);
    expect(await claimOf('a', null)).toBe(3);
    expect(await claimOf(null, 1)).toBe(4);
    expect(await claimOf('b', 1)).toBe(0);
  });

  test('keeps to the priorities within it', async ({ database }) => {
    await createTasks(database, 'both');
    for (const priority of [3, 1, 5]) await addTasks(database, { count: 2, tenant: 'a', priority });
    await addTasks(database, { count: 2, tenant: 'b', priority: 1 });
    const claim = await tasksOf(database, 'both').claim(database.pool, { limit: 50, group: { tenant: 'a' } });
    expect(claim.rows.map((row) => row.priority)).toEqual([1, 1, 3, 3, 5, 5]);
    claim.close();
  });
});

describe('a claim from all groups', () => {
  test('reaches a row behind the backlog of another group', async ({ database }) => {
    await createTasks(database, 'group');
    await addTasks(database, { count: 10_000, tenant: 'a' });
    await addTasks(database, { count: 1, tenant: 'b', due: "-interval '1 second'" });
    const claim = await tasksOf(database, 'group').claim(database.pool, { limit: 20 });
    expect(countBy(claim.rows, (row) => row.tenant)).toEqual({ a: 19, b: 1 });
    claim.close();
  });

  test('shares among the groups, and fills up from those that have more', async ({ database }) => {
    await createTasks(database, 'group');
    await addTasks(database, { count: 100, tenant: 'a' });
    await addTasks(database, { count: 100, tenant: null });
    await addTasks(database, { count: 2, tenant: 'c' });
    await addTasks(database, { count: 5, tenant: 'd', due: "interval '1 hour'" });
    const claim = await tasksOf(database, 'group').claim(database.pool, { limit: 30 });
    const counts = countBy(claim.rows, (row) => row.tenant);
    expect(counts).toMatchObject({ c: 2 });
    expect(Math.min(counts['a'] ?? 0, counts['null'] ?? 0)).toBeGreaterThanOrEqual(10);
    // The second pass does not give again what the first has locked.
    expect(new Set(claim.rows.map(({ id }) => id)).size).toBe(30);
    claim.close();
  });

  test('goes around when there are more groups than rows wanted', async ({ database }) => {
    await createTasks(database, 'groups');
    const groups = ['a', 'b', 'B', 'ä', null].flatMap((tenant) => [1, 2, null].map((region) => ({ tenant, region })));
    for (const group of groups) await addTasks(database, { count: 4, ...group });
    const tasks = tasksOf(database, 'groups');
    const keyOf = ({ tenant, region }: { tenant: string | null; region: number | null }): string => `${tenant}/${region}`;
    for (let round = 0; round < 4; round++) {
      const served: string[] = [];
      for (let n = 0; n < 5; n++) {
        const claim = await tasks.claim(database.pool, { limit: 3 });
        claim.close();
        served.push(...claim.rows.map(keyOf));
      }
      expect(served.toSorted()).toEqual(groups.map(keyOf).toSorted());
    }
    const none = await tasks.claim(database.pool, { limit: 3 });
    expect(none.rows).toEqual([]);
  });

  test('keeps to the priorities within each', async ({ database }) => {
    await createTasks(database, 'both');
    for (const tenant of ['a', 'b']) {
      for (const priority of [6, 3, 1]) await addTasks(database, { count: 4, tenant, priority });
    }
    const tasks = tasksOf(database, 'both');
    const counts = async (limit: number): Promise<object> => {
      const claim = await tasks.claim(database.pool, { limit });
      claim.close();
      return countBy(claim.rows, (row) => `${row.tenant}${row.priority}`);
    };
    expect(await counts(12)).toEqual({ a1: 4, b1: 4, a3: 2, b3: 2 });
    expect(await counts(12)).toEqual({ a3: 2, b3: 2, a6: 4, b6: 4 });
  });

  test('finds the one due row behind thousands of groups that wait', async ({ database }) => {
    await createTasks(database, 'group');
    await database.query(
      `insert into ${database.schema}.tasks (tenant, created_at)
       select 'g' || n, clock_timestamp() + case when n = 2500 then -1 else 1 end * interval '1 hour' from generate_series(1, 3500) n`,
    );
    const tasks = tasksOf(database, 'group');
    const claim = await tasks.claim(database.pool, { limit: 20 });
    expect(claim.rows.map((row) => row.tenant)).toEqual(['g2500']);
    claim.close();
    expect((await tasks.claim(database.pool, { limit: 20 })).rows).toEqual([]);
  });

  test('locks no row that it does not take', async ({ database }) => {
    await createTasks(database, 'group');
    for (const tenant of ['a', 'b', 'c']) await addTasks(database, { count: 10, tenant });
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      (await tasksOf(database, 'group').claim(client, { limit: 7 })).close();
      const other = await tasksOf(database, 'group').claim(database.pool, { limit: 50 });
      expect(other.rows).toHaveLength(23);
      other.close();
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  test('puts away what is spent in each group that it reaches', async ({ database }) => {
    await createTasks(database, 'group');
    await addTasks(database, { count: 3, tenant: 'a', attempts: 3 });
    await addTasks(database, { count: 3, tenant: 'b', attempts: 3 });
    await addTasks(database, { count: 50, tenant: 'b', due: "-interval '10 minutes'" });
    await addTasks(database, { count: 3, tenant: 'b', attempts: 3, due: "-interval '5 minutes'" });
    await addTasks(database, { count: 3, tenant: 'c', attempts: 3 });
    const tasks = tasksOf(database, 'group');
    const first = await tasks.claim(database.pool, { limit: 30 });
    first.close();
    expect(countBy(first.rows, (row) => row.tenant)).toEqual({ b: 30 });
    expect(first.buried).toBeGreaterThanOrEqual(6);
    const second = await tasks.claim(database.pool, { limit: 30 });
    second.close();
    expect([second.rows.length, first.buried + second.buried]).toEqual([20, 12]);
  });

  test('of groups that are all spent puts them away', async ({ database }) => {
    await createTasks(database, 'both');
    for (const tenant of ['a', null]) await addTasks(database, { count: 3, tenant, attempts: 3, priority: 4 });
    const claim = await tasksOf(database, 'both').claim(database.pool, { limit: 30 });
    expect([claim.rows, claim.buried]).toEqual([[], 6]);
  });
});

/** What a claim is asked that may have rows of some groups alone: those of the roles that are held, and of nobody. */
async function claimOf(
  database: TestDatabase,
  groups: readonly Group[],
  limit: number,
  turn = 0,
): Promise<Record<string, number>> {
  const description = await describeTable(database, taskOptions(database, 'group'));
  const { text, values } = claimStatement(
    description,
    { limit, returning: ['id', 'tenant'] },
    { groups, round: { after: null, turn }, columns: ['id', 'tenant'] },
  );
  const rows = await database.query<{ tenant: string | null; leasehold_ref: unknown }>(text, values);
  return countBy(
    rows.filter((row) => row.leasehold_ref !== null),
    (row) => row.tenant,
  );
}

describe('a claim from a list of groups', () => {
  test('takes rows of these alone, evenly', async ({ database }) => {
    await createTasks(database, 'group');
    for (const tenant of ['a', 'b', 'c', null]) await addTasks(database, { count: 40, tenant });
    await addTasks(database, { count: 3, tenant: 'd' });
    expect(await claimOf(database, [[null], ['b'], ['d'], ['e']], 30)).toEqual({ null: 17, b: 10, d: 3 });
    expect(await claimOf(database, [], 30)).toEqual({});
  });

  test('begins with another one at each turn', async ({ database }) => {
    await createTasks(database, 'group');
    for (const tenant of ['a', 'b', 'c']) await addTasks(database, { count: 40, tenant });
    const groups = [['a'], ['b'], ['c']];
    expect(await claimOf(database, groups, 2, 0)).toEqual({ a: 1, b: 1 });
    expect(await claimOf(database, groups, 2, 1)).toEqual({ b: 1, c: 1 });
    expect(await claimOf(database, groups, 2, 5)).toEqual({ c: 1, a: 1 });
  });

  test('puts away what is spent in these alone', async ({ database }) => {
    const { query, schema } = database;
    await createTasks(database, 'group');
    for (const tenant of ['a', 'b', null]) await addTasks(database, { count: 2, tenant, attempts: 3 });
    await claimOf(database, [['a'], [null]], 10);
    const rows = await query<{ tenant: string | null }>(`select tenant from ${schema}.tasks where failed_at is not null`);
    expect(countBy(rows, (row) => row.tenant)).toEqual({ a: 2, null: 2 });
  });
});
