import { type ResolvedWorkTable, resolveWorkTable } from '../../../src/work/resolve-work-table.ts';
import { sql } from '../../../src/work/sql.ts';
import type { WorkTableOptions } from '../../../src/work/work-table-options.ts';
import type { TestDatabase } from '../../../../../test/support/database.ts';

export function deliveriesOptions({ schema }: TestDatabase, options: Partial<WorkTableOptions> = {}): WorkTableOptions {
  return { table: [schema, 'deliveries'], orderBy: 'created_at', live: sql`completed_at is null`, ...options };
}

/** The definition of `deliveries` in the test's schema. */
export function deliveries(database: TestDatabase, options: Partial<WorkTableOptions> = {}): ResolvedWorkTable {
  return resolveWorkTable(deliveriesOptions(database, options));
}

/** The table as an application would have it, without anything of Leasehold's. */
export async function createDeliveries({ query, schema }: TestDatabase, more = ''): Promise<void> {
  await query(`create schema if not exists ${schema}; create table ${schema}.deliveries (
    id bigint generated always as identity primary key,
    created_at timestamptz not null default clock_timestamp(),
    attempts integer not null default 0,
    completed_at timestamptz,
    payload jsonb${more}
  )`);
}

/** What the catalog says of everything in the schema, the files of the relations too. */
export async function catalogOf({ query, schema }: TestDatabase): Promise<unknown> {
  const columns = await query(
    `select attrelid::regclass::text as table, attname as column, format_type(atttypid, atttypmod) as type, attnotnull as "notNull"
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = $1::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped order by 1, attnum`,
    [schema],
  );
  const constraints = await query(
    `select conname as name, pg_get_constraintdef(oid) as definition, convalidated as valid
     from pg_constraint where connamespace = $1::regnamespace and contype <> 'n' order by 1`,
    [schema],
  );
  const relations = await query(
    `select relname as name, relfilenode as file, reloptions as options, indisvalid as valid, pg_get_indexdef(indexrelid) as definition
     from pg_class left join pg_index on indexrelid = pg_class.oid where relnamespace = $1::regnamespace order by 1`,
    [schema],
  );
  return { columns, constraints, relations };
}
