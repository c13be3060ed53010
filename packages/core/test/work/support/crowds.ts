import type { TestDatabase } from '../../../../../test/support/database.ts';
import { createTasks, type Form } from './tasks.ts';

/** What lies in the table beside 500 rows that are due: spread over 20 tenants, 3 regions, 3 priorities. */
export const CROWDS = {
  leased: { rows: 20_000, lock: 'gen_random_uuid()', until: "clock_timestamp() + interval '1 hour'", completed: 'null' },
  waiting: { rows: 50_000, lock: 'null', until: "clock_timestamp() + interval '1 hour'", completed: 'null' },
  finished: { rows: 50_000, lock: 'null', until: 'null', completed: 'clock_timestamp()' },
  backlog: { rows: 20_000, lock: 'null', until: 'null', completed: 'null' },
} as const;

export type Crowd = keyof typeof CROWDS;

export interface CrowdedTable {
  readonly crowd: Crowd;
  /** A part of the crowd, from 0 to 1. @default 1 */
  readonly share?: number;
  readonly rows?: number;
}

/** A table such as this, of which nobody has taken statistics. */
export async function crowdTasks(database: TestDatabase, form: Form, { crowd, share = 1, rows }: CrowdedTable): Promise<void> {
  const { query, schema } = database;
  const { lock, until, completed, rows: usual } = CROWDS[crowd];
  await query(`drop table if exists ${schema}.tasks`).catch(() => {});
  await createTasks(database, form);
  await query(`alter table ${schema}.tasks set (autovacuum_enabled = false)`);
  const insert = `insert into ${schema}.tasks (tenant, region, priority, created_at, lock_id, locked_until, completed_at)
    select 't' || n % 20, n % 3, 1 + n % 3, clock_timestamp()`;
  const count = Math.round(rows ?? usual * share);
  await query(`${insert} - interval '2 hours', ${lock}, ${until}, ${completed} from generate_series(1, $1::int) n`, [count]);
  await query(`${insert} - interval '1 hour' + n * interval '1 microsecond', null, null, null from generate_series(1, 500) n`);
}

const PRETEND = (pages: number) => `update pg_class set reltuples = 0, relpages = ${pages}`;

/**
 * What the planner is told of the table, one after the other:
 * - `none`: nothing was ever taken.
 * - `empty`: taken before the first row.
 * - `zero`: vacuum saw one page without rows, before they all came.
 * - `right`: as it is, vacuumed.
 * - `wrong`: columns as they are, and no rows: a queue that was empty when vacuum came last.
 */
export const STATISTICS = {
  none: null,
  empty: PRETEND(0),
  zero: PRETEND(1),
  right: 'vacuum analyze',
  wrong: PRETEND(1),
} as const;

/** Runs `use` with each of these. */
export async function withStatistics({ query, schema }: TestDatabase, use: (name: string) => Promise<void>): Promise<void> {
  for (const [name, change] of Object.entries(STATISTICS)) {
    if (change?.startsWith('update'))
      await query(`${change} where relnamespace = $1::regnamespace and relname like 'tasks%'`, [schema]);
    else if (change !== null) await query(`${change} ${schema}.tasks`);
    await use(name);
  }
}
