import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { SetValues } from './set-values.ts';
import type { Sql } from './sql.ts';

export interface WorkTableOptions {
  /** The application's own table: `deliveries`, or with its schema `billing.deliveries`. A name with a dot is given as a pair. */
  readonly table: string | readonly [schema: string, table: string];
  /** Its primary key, of one column or up to eight, of any type. @default 'id' */
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
  /** Counted at each claim, so that a worker that dies has used one up. Without an attempt left, the claim buries the row. `max` is 1 to 32,767. @default not counted */
  readonly attempts?: { readonly column: string; readonly max: number };
  /** A `timestamptz` column: past it, the claim buries the row. NULL is never past. @default none */
  readonly deadline?: string;
  /** What `finalize` always writes, such as ``{ completed_at: sql`clock_timestamp()` }``. @default nothing */
  readonly done?: SetValues;
  /** What burying writes; it must make `live` false. Required with `attempts` or `deadline`. @default no row can be buried */
  readonly dead?: { readonly set: SetValues; /** A text column for the reason. */ readonly reason?: string };
  /**
   * A column of integers that is never NULL: the first of `values`, 1 to 32 of them, comes first, then the next. Others come last of all.
   *
   * *Gotcha:* each value is a scan of the claim index, a few pages where nothing is due. It is strict: while rows of the first
   * are due, no other is claimed.
   *
   * @default none
   */
  readonly priority?: { readonly column: string; readonly values: readonly number[] };
  /**
   * One to four columns of which each claim serves all values evenly, NULL being one, so that one group's backlog does not hold
   * up the others.
   *
   * *Gotcha:* a claim of all groups reads up to ten pages for each group that has live rows, until it has enough. With more than
   * a thousand groups it may give fewer rows than are due, though never none.
   *
   * @default none
   */
  readonly groupBy?: string | readonly string[];
  /** Anything with pino's `debug`, `info`, `warn` and `error`: hears of what goes wrong and is tried again. @default the first of each kind is a warning of the process */
  readonly logger?: Logger;
  /** For tests. @default the system's clock */
  readonly clock?: Clock;
}
