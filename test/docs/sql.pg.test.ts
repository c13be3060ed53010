import { migrationSql } from '@leasehold/core/postgres';
import { expect } from 'vitest';
import { test } from '../support/database.ts';
import { readBlocks } from './support/blocks.ts';

const blocks = readBlocks('sql').filter(({ marks }) => marks === 'run');

test('every sql block that is marked so runs on a fresh schema', async ({ database }) => {
  const { schema, query } = database;
  await query(migrationSql(schema));
  await query(
    `insert into ${schema}.role_lease (role, holder, fencing_token, lease_ms, acquired_at, expires_at)
     values ('held', 'a', 2, 15000, clock_timestamp(), clock_timestamp() + interval '15 s'), ('vacant', null, 3, 15000, null, '-infinity')`,
  );
  const failed: string[] = [];
  for (const { page, line, code } of blocks) {
    const sql = code.replaceAll('leasehold.', `${schema}.`).replaceAll("'leasehold'", `'${schema}'`);
    await query(`begin; ${sql}; rollback`).catch((error: Error) => failed.push(`${page}:${line}: ${error.message}`));
  }
  expect(failed).toEqual([]);
  expect(blocks.length).toBeGreaterThan(8);
});

test('the first two queries tell the held roles from the others', async ({ database }) => {
  const { schema, query } = database;
  await query(migrationSql(schema));
  await query(
    `insert into ${schema}.role_lease (role, holder, fencing_token, acquired_at, expires_at)
     values ('held', 'a', 2, clock_timestamp(), clock_timestamp() + interval '15 s'),
            ('given back', null, 3, null, '-infinity'),
            ('run out', 'b', 4, clock_timestamp(), clock_timestamp() - interval '1 s')`,
  );
  const [held, vacant] = blocks
    .filter(({ page }) => page === 'docs/guide/postgresql.md')
    .map(({ code }) => code.replaceAll('leasehold.', `${schema}.`));
  expect((await query(held ?? '')).map(({ role }) => role)).toEqual(['held']);
  expect((await query(vacant ?? '')).map(({ role, why }) => [role, why])).toEqual([
    ['given back', 'released'],
    ['run out', 'run out'],
  ]);
});
