import { sql, workTable, type WorkTable } from '@leasehold/core/work';
import type { WorkTableOptions } from '../../../src/work/work-table-options.ts';
import type { TestDatabase } from '../../../../../test/support/database.ts';

export interface Task {
  readonly id: string;
  readonly tenant: string | null;
  readonly region: number | null;
  readonly priority: number;
  readonly attempts: number;
}

/** The ways to claim: what the table's options say, and the columns that stand first in its claim index. */
export const FORMS = {
  plain: { options: {}, leading: '' },
  priority: { options: { priority: { column: 'priority', values: [1, 2, 3] } }, leading: 'priority, ' },
  group: { options: { groupBy: 'tenant' }, leading: 'tenant, ' },
  groups: { options: { groupBy: ['tenant', 'region'] }, leading: 'tenant, region, ' },
  both: {
    options: { groupBy: 'tenant', priority: { column: 'priority', values: [1, 2, 3] } },
    leading: 'tenant, priority, ',
  },
} as const satisfies Record<string, { options: Partial<WorkTableOptions>; leading: string }>;

export type Form = keyof typeof FORMS;

export const LIVE = 'completed_at is null and failed_at is null';

/** A table with the claim index of one form. Text is ordered as in no language, so that a walk with another order shows. */
export async function createTasks({ query, schema }: TestDatabase, form: Form): Promise<void> {
  await query(`create schema if not exists ${schema}`);
  await query(`
    create table ${schema}.tasks (
      id bigint generated always as identity primary key,
      tenant text collate "C",
      region int,
      priority smallint not null default 2,
      created_at timestamptz not null default clock_timestamp() - interval '1 minute',
      completed_at timestamptz,
      failed_at timestamptz,
      attempts int not null default 0,
      error text,
      payload text,
      lock_id uuid,
      locked_until timestamptz
    )`);
  await query(
    `create index tasks_claim on ${schema}.tasks (${FORMS[form].leading}coalesce(locked_until, created_at), id) where ${LIVE}`,
  );
}

export function tasksOf(database: TestDatabase, form: Form, options: Partial<WorkTableOptions> = {}): WorkTable<Task> {
  return workTable<Task>(taskOptions(database, form, options));
}

export function taskOptions({ schema }: TestDatabase, form: Form, options: Partial<WorkTableOptions> = {}): WorkTableOptions {
  return {
    table: [schema, 'tasks'],
    orderBy: 'created_at',
    live: sql`completed_at is null and failed_at is null`,
    attempts: { column: 'attempts', max: 3 },
    done: { completed_at: sql`clock_timestamp()` },
    dead: { set: { failed_at: sql`clock_timestamp()` }, reason: 'error' },
    ...FORMS[form].options,
    ...options,
  };
}

export interface NewTasks {
  readonly count: number;
  readonly tenant?: string | null;
  readonly region?: number | null;
  readonly priority?: number;
  readonly attempts?: number;
  /** When they are due, as SQL: `n` is the number of the row, from 1. */
  readonly due?: string;
}

export async function addTasks({ query, schema }: TestDatabase, tasks: NewTasks): Promise<void> {
  const { count, tenant = null, region = null, priority = 2, attempts = 0, due = "-interval '1 hour'" } = tasks;
  await query(
    `insert into ${schema}.tasks (tenant, region, priority, attempts, created_at)
     select $1, $2, $3, $4, clock_timestamp() + ${due} + n * interval '1 microsecond' from generate_series(1, $5::int) n`,
    [tenant, region, priority, attempts, count],
  );
}

/** How many rows of each kind, in the order in which the kinds come first. */
export function countBy<Row>(rows: readonly Row[], kind: (row: Row) => unknown): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) counts[String(kind(row))] = (counts[String(kind(row))] ?? 0) + 1;
  return counts;
}
