import { sql, workTable, type WorkTable } from '@leasehold/core/work';
import type { WorkTableOptions } from '../../../src/work/work-table-options.ts';
import type { TestDatabase } from '../../../../../test/support/database.ts';

export interface Delivery {
  readonly id: string;
  readonly created_at: Date;
  readonly completed_at: Date | null;
  readonly failed_at: Date | null;
  readonly attempts: number;
  readonly error: string | null;
  readonly payload: unknown;
  readonly lock_id: string | null;
  readonly locked_until: Date | null;
}

/** A table such as an application has it, with lease columns and claim index, of `rows` rows that are due, the oldest first. */
export async function createDeliveries({ query, schema }: TestDatabase, rows = 0): Promise<void> {
  await query(`create schema if not exists ${schema}`);
  await query(`
    create table ${schema}.deliveries (
      id bigint generated always as identity primary key,
      created_at timestamptz not null default clock_timestamp(),
      completed_at timestamptz,
      failed_at timestamptz,
      expires_at timestamptz,
      attempts int not null default 0,
      error text,
      payload jsonb,
      lock_id uuid,
      locked_until timestamptz
    )`);
  await query(`
    create index deliveries_claim on ${schema}.deliveries (coalesce(locked_until, created_at), id)
    where completed_at is null and failed_at is null`);
  await query(
    `insert into ${schema}.deliveries (created_at, payload)
     select clock_timestamp() - interval '1 hour' + n * interval '1 millisecond', jsonb_build_object('n', n)
     from generate_series(1, $1::int) n`,
    [rows],
  );
}

/** That table as a work table with five attempts. */
export function deliveriesOf({ schema }: TestDatabase, options: Partial<WorkTableOptions> = {}): WorkTable<Delivery> {
  return workTable<Delivery>({
    table: [schema, 'deliveries'],
    orderBy: 'created_at',
    live: sql`completed_at is null and failed_at is null`,
    attempts: { column: 'attempts', max: 5 },
    done: { completed_at: sql`clock_timestamp()` },
    dead: { set: { failed_at: sql`clock_timestamp()` }, reason: 'error' },
    ...options,
  });
}

/** All rows as they are, in the order of their ids. */
export function rowsOf({ query, schema }: TestDatabase): Promise<Delivery[]> {
  return query(`select * from ${schema}.deliveries order by id`);
}

/** Lets the leases of all leased rows have ended a moment ago. */
export async function endLeases({ query, schema }: TestDatabase): Promise<void> {
  await query(
    `update ${schema}.deliveries set locked_until = clock_timestamp() - interval '1 second' where lock_id is not null and locked_until is not null`,
  );
}
