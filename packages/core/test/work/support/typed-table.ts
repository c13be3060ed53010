import { type SetValues, sql, workTable } from '@leasehold/core/work';
import type { TestDatabase } from '../../../../../test/support/database.ts';

/** A row of a table with the given columns, claimed; the function writes into it and answers what is there then. */
export async function claimedRowOf(
  { query, pool, schema }: TestDatabase,
  columns: string,
): Promise<(set: SetValues) => Promise<Record<string, unknown>>> {
  await query(`create schema if not exists ${schema}`);
  await query(`
    create table ${schema}.things (
      id int primary key, created_at timestamptz not null default now(), done bool not null default false,
      lock_id uuid, locked_until timestamptz, ${columns}
    )`);
  await query(`insert into ${schema}.things (id) values (1)`);
  const things = workTable({ table: [schema, 'things'], orderBy: 'created_at', live: sql`not done` });
  return async (set) => {
    // Releases the row where nothing could be written.
    await using claim = await things.claim(pool);
    await claim.retry('1', set, { after: 0 });
    const [row] = await query(`select * from ${schema}.things`);
    return row ?? {};
  };
}
