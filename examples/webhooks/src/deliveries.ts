import { sql, type WorkTable, workTable } from '@leasehold/core/work';

export interface Delivery {
  readonly id: string;
  readonly url: string;
  readonly payload: unknown;
  readonly attempts: number;
  readonly error: string | null;
}

/** The table of `schema.sql`. */
export const deliveries: WorkTable<Delivery> = workTable<Delivery>({
  table: 'deliveries',
  orderBy: 'created_at',
  live: sql`completed_at is null and failed_at is null`,
  attempts: { column: 'attempts', max: 16 },
  done: { completed_at: sql`clock_timestamp()`, error: null },
  dead: { set: { failed_at: sql`clock_timestamp()` }, reason: 'error' },
});
