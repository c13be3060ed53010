import { sql, workTable, type WorkTable } from '@leasehold/core/work';
import type pg from 'pg';
import type { Counted } from './workload.ts';

/** The application's own table, as narrow as one gets: what is written for a row is what claiming and settling it costs. */
const TABLE_DDL = `
  create table deliveries (
    id bigint generated always as identity primary key,
    created_at timestamptz not null default clock_timestamp(),
    attempts integer not null default 0,
    completed_at timestamptz,
    failed_at timestamptz
  )`;

export type Row = Record<string, unknown>;

/** Does what the hand-written statements do, and no more. */
export function deliveries(): WorkTable<Row> {
  return workTable({
    table: 'deliveries',
    orderBy: 'created_at',
    live: sql`completed_at is null and failed_at is null`,
    done: { completed_at: sql`clock_timestamp()` },
  });
}

/** Counts attempts, and puts away who has none left. */
export function countingDeliveries(): WorkTable<Row> {
  return workTable({
    table: 'deliveries',
    orderBy: 'created_at',
    live: sql`completed_at is null and failed_at is null`,
    attempts: { column: 'attempts', max: 8 },
    done: { completed_at: sql`clock_timestamp()` },
    dead: { set: { failed_at: sql`clock_timestamp()` } },
  });
}

/** The same for all who work on it, the claim index among it. */
export async function createTable(pool: pg.Pool): Promise<void> {
  await pool.query(TABLE_DDL);
  await pool.query(countingDeliveries().ddl());
  await fillHistory(pool);
}

/** Rows that are done stay, as they do in an application: on a table of nothing but live rows the planner reads all of it. */
export const HISTORY = 100_000;

async function fillHistory(pool: pg.Pool): Promise<void> {
  await pool.query('insert into deliveries (completed_at) select clock_timestamp() from generate_series(1, $1)', [HISTORY]);
}

export async function fillTable(pool: pg.Pool, rows: number): Promise<void> {
  await pool.query('insert into deliveries select from generate_series(1, $1)', [rows]);
}

export async function isDrained(pool: pg.Pool): Promise<boolean> {
  const { rowCount } = await pool.query('select from deliveries where completed_at is null and failed_at is null limit 1');
  return rowCount === 0;
}

export async function countTable(pool: pg.Pool): Promise<Counted> {
  const { rows } = await pool.query<Counted>(
    `select count(completed_at)::integer as done, (count(*) - count(completed_at))::integer as live from deliveries`,
  );
  return rows[0] ?? { done: 0, live: Number.NaN };
}
