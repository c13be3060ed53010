import type { Duration } from '../duration.ts';
import type { SetValues } from './set-values.ts';
import type { SqlClient } from './client.ts';

/**
 * How the row of a claim was settled:
 * - `done`: as asked.
 * - `lost`: it is another claim's, or somebody has settled or freed it; nothing was written.
 * - `gone`: it is not in the table any more.
 */
export type Fate = 'done' | 'lost' | 'gone';

/** A row of the claim: the row itself, its id, or for a table with an id of several columns an object with these. */
export type RowRef = object | string | number | bigint;

/** When a row is due again: a delay from now, by the database's clock, or a point in time. */
export type After = Duration | Date;

export interface SettleOptions {
  /** Runs the statement, within the caller's transaction for one. @default the client that claimed */
  readonly client?: SqlClient;
  /**
   * What a row that is not this claim's any more does: `throw` rolls back the transaction in which the business rows were
   * written. @default 'tell'
   */
  readonly onLost?: 'tell' | 'throw';
}

export interface RetryOptions extends SettleOptions {
  /** When the row is due again, from the moment it is settled: 0 to 366 days, or a `Date` before the year 10000. */
  readonly after: After;
}

export interface ReleaseOptions extends SettleOptions {
  /** Takes the attempt back that the claim counted. @default true */
  readonly refund?: boolean;
}

export interface BuryOptions extends SettleOptions {
  /** For the table's column of reasons, where it has one. @default 'buried' */
  readonly reason?: string;
}

/** What is to become of one row. */
export type Outcome<Row extends object = Record<string, unknown>> =
  | { readonly row: RowRef; readonly outcome: 'done'; readonly set?: SetValues<Row> }
  | { readonly row: RowRef; readonly outcome: 'retry'; readonly after: After; readonly set?: SetValues<Row> }
  | { readonly row: RowRef; readonly outcome: 'release'; readonly refund?: boolean; readonly set?: SetValues<Row> }
  | { readonly row: RowRef; readonly outcome: 'bury'; readonly reason?: string; readonly set?: SetValues<Row> };

export type OutcomeName = Outcome['outcome'];
