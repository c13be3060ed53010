import { expect } from 'vitest';
import { test } from '../../../test/support/database.ts';

const SCHEMAS = `select nspname as name from pg_namespace where starts_with(nspname, $1)`;
const kept = { schema: '', message: '' };

test('names a schema after the test', async ({ database }) => {
  expect(database.schema).toMatch(/^t_names_a_schema_after_the_test_[0-9a-f]{6}$/);
  await database.query(`create schema ${database.schema}`);
  await database.query(`create table ${database.schema}.numbers (n int)`);
  expect(await database.query(`select count(*)::int as n from ${database.schema}.numbers`)).toEqual([{ n: 0 }]);
});

test('drops the schema of a test that passed', async ({ database }) => {
  expect(await database.query(SCHEMAS, ['t_names_a_schema'])).toEqual([]);
});

test.fails('is a test that fails', async ({ database, onTestFailed }) => {
  kept.schema = database.schema;
  onTestFailed(({ task }) => {
    kept.message = task.result?.errors?.[0]?.message ?? '';
  });
  await database.query(`create schema ${database.schema}`);
  expect('left').toBe('right');
});

test('keeps the schema of a test that failed, and says so in its error', async ({ database }) => {
  expect(await database.query(SCHEMAS, [kept.schema])).toEqual([{ name: kept.schema }]);
  expect(kept.message).toContain(`Schema ${kept.schema} of database `);
  await database.query(`drop schema ${kept.schema}`);
});

test('still has the database while the test closes its own things', async ({ database, onTestFinished }) => {
  onTestFinished(async () => {
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
