import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/database.ts';
import { addTasks, countBy, createTasks, tasksOf } from './support/tasks.ts';

describe('a claim by priority', () => {
  test('takes from the first priority that has due rows, and fills up from the next', async ({ database }) => {
    await createTasks(database, 'priority');
    for (const priority of [3, 1, 2]) await addTasks(database, { count: 4, priority });
    const claim = await tasksOf(database, 'priority').claim(database.pool, { limit: 6 });
    expect(claim.rows.map((row) => row.priority)).toEqual([1, 1, 1, 1, 2, 2]);
    claim.close();
  });

  test('follows the order of the list, and not of the numbers', async ({ database }) => {
    await createTasks(database, 'priority');
    for (const priority of [1, 2, 3]) await addTasks(database, { count: 2, priority });
    const tasks = tasksOf(database, 'priority', { priority: { column: 'priority', values: [3, 1, 2] } });
    const claim = await tasks.claim(database.pool, { limit: 5 });
    expect(claim.rows.map((row) => row.priority)).toEqual([3, 3, 1, 1, 2]);
    claim.close();
  });

  test('reaches rows whose priority nobody has listed, after the others', async ({ database }) => {
    await createTasks(database, 'priority');
    for (const priority of [-5, 0, 2, 7, 9]) await addTasks(database, { count: 2, priority });
    await addTasks(database, { count: 2, priority: 8, due: "interval '1 hour'" });
    const claim = await tasksOf(database, 'priority').claim(database.pool, { limit: 50 });
    expect(claim.rows.map((row) => row.priority)).toEqual([2, 2, -5, -5, 0, 0, 7, 7, 9, 9]);
    claim.close();
  });

  test('locks no row that it does not take', async ({ database }) => {
    await createTasks(database, 'priority');
    for (const priority of [1, 2]) await addTasks(database, { count: 10, priority });
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      (await tasksOf(database, 'priority').claim(client, { limit: 5 })).close();
      const other = await tasksOf(database, 'priority').claim(database.pool, { limit: 50 });
      expect(countBy(other.rows, (row) => row.priority)).toEqual({ 1: 5, 2: 10 });
      other.close();
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  test('puts away what is spent in each priority that it passes, and no further', async ({ database }) => {
    await createTasks(database, 'priority');
    for (const priority of [1, 2, 3, 4]) await addTasks(database, { count: 3, priority, attempts: 3 });
    await addTasks(database, { count: 10, priority: 2, due: "-interval '10 minutes'" });
    await addTasks(database, { count: 3, priority: 2, attempts: 3, due: "-interval '5 minutes'" });
    const tasks = tasksOf(database, 'priority');
    const first = await tasks.claim(database.pool, { limit: 10 });
    expect([countBy(first.rows, (row) => row.priority), first.buried]).toEqual([{ 2: 10 }, 6]);
    const rest = await tasks.claim(database.pool, { limit: 10 });
    expect([rest.rows, rest.buried]).toEqual([[], 9]);
    first.close();
  });
});
