import { sql, workTable, type WorkTable } from '@leasehold/core/work';

/** A row of the application under test. */
export interface Delivery {
  /** A bigint, as text. */
  readonly id: string;
  /** `poison`: whoever works on it fails. */
  readonly nature: 'plain' | 'poison';
  readonly attempts: number;
  readonly amount: number;
}

/** Short, so that much is taken over; long enough for a busy machine. */
export const LEASE_MS = 3_000;
/** The longest pause of a worker that finds nothing due. */
export const POLL_MS = 500;
export const MOST_ATTEMPTS = 8;
const BACKOFF_MS = 150;

/** After a failure without a delay of its own. */
export function backoffMs(attempt: number): number {
  return BACKOFF_MS * attempt;
}

/** Written into `error` where a handler asked for the delay that is in `asked_ms`. */
export const ASKED = 'asked for later';

export const deliveries: WorkTable<Delivery> = workTable<Delivery>({
  table: 'delivery',
  orderBy: 'created_at',
  live: sql`finished_at is null and buried_at is null`,
  attempts: { column: 'attempts', max: MOST_ATTEMPTS },
  done: { finished_at: sql`clock_timestamp()` },
  dead: { set: { buried_at: sql`clock_timestamp()` }, reason: 'reason' },
});
