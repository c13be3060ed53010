import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { SetValues } from './set-values.ts';
import type { Sql } from './sql.ts';

export interface WorkTableOptions {
  /** The application's own table: `deliveries`, or with its schema `billing.deliveries`. A name with a dot is given as a pair. */
  readonly table: string | readonly [schema: string, table: string];
  /** Its primary key, of one column or several, of any type. @default 'id' */
  readonly id?: string | readonly string[];
  /** When a row that nobody claimed yet is due: a `timestamptz` column that is never NULL. */
  readonly orderBy: string;
  /**
   * The rows that are still to be worked on, such as ``sql`completed_at is null` ``: the filter of the claim index. Without
   * parameters and immutable; finishing a row must make it false.
   */
  readonly live: Sql;
  /** The lease columns. @default lock_id, locked_until */
  readonly columns?: { readonly lockId?: string; readonly lockedUntil?: string };
  /** Counted at each claim, so that a worker that dies has used one up. Without an attempt left, the claim buries the row. */
  readonly attempts?: { readonly column: string; readonly max: number };
  /** A `timestamptz` column: past it, the claim buries the row. NULL is never past. */
  readonly deadline?: string;
  /** What `finalize` always writes, such as ``{ completed_at: sql`clock_timestamp()` }``. */
  readonly done?: SetValues;
  /** What burying writes; it must make `live` false. Asked for by `attempts` and `deadline`. */
  readonly dead?: { readonly set: SetValues; /** A text column for the reason. */ readonly reason?: string };
  /** A column of small integers: lower comes first. *Gotcha:* the claim asks for each value that `values` lists, from the first. */
  readonly priority?: { readonly column: string; readonly values: readonly number[] };
  /** Columns of which each claim serves all values evenly, so that one group's backlog does not hold up the others. */
  readonly groupBy?: string | readonly string[];
  readonly logger?: Logger;
  /** For tests. */
  readonly clock?: Clock;
}
