import type { Duration } from '../duration.ts';
import type { BuryOptions, Fate, Outcome, ReleaseOptions, RetryOptions, RowRef, SettleOptions } from './fate.ts';
import type { SetValues } from './set-values.ts';
import type { Where } from './where.ts';

/**
 * Rows that are this caller's until the lease ends. No lock and no transaction is held meanwhile: a guard on the claim's
 * token lets nobody settle what is another's by now.
 *
 * *Gotcha:* a lease that has run out is not lost before another worker claims the row; settling still succeeds then. Work
 * that must not run twice at once has to heed {@link Claim.signal}.
 */
export interface Claim<Row extends object> extends AsyncDisposable {
  /** The token on the rows: a UUID, new for each claim. */
  readonly id: string;
  /** In due order. Empty when nothing is due. */
  readonly rows: readonly Row[];
  /** How many rows that had no attempt left or were past their deadline this claim put away. */
  readonly buried: number;
  /** The lease that is in force, in milliseconds from the claim or its last renewal. */
  readonly leaseMs: number;
  /** Milliseconds until {@link Claim.signal} aborts; 0 once it has. */
  readonly timeLeftMs: number;
  /** Aborts a safety margin before the lease ends, or when a renewal found none of the open rows to be this claim's. */
  readonly signal: AbortSignal;
  /**
   * Aborts a safety margin before the lease of this row ends, or when the row was found lost.
   *
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROW
   */
  signalOf(row: RowRef): AbortSignal;
  /**
   * Whether the row is still this claim's, as far as is known here: not settled, not lost, and its lease not about to end. Costs less than
   * {@link signalOf}, which makes a signal.
   *
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROW
   */
  isLeased(row: RowRef): boolean;

  /**
   * Writes the end of the row: the table's `done` columns and `set`.
   *
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROW, LEASEHOLD_ALREADY_SETTLED, LEASEHOLD_INVALID_OPTION.
   * @throws {LeaseholdError} LEASEHOLD_WORK_TABLE when `set` names a column that is not there; LEASEHOLD_STORE_TIMEOUT.
   * @throws {LeaseholdError} LEASEHOLD_ROW_STILL_LIVE when `live` is still true for it.
   * @throws {LeaseholdError} LEASEHOLD_ROW_LOST with `onLost: 'throw'`.
   */
  finalize(row: RowRef, set?: SetValues<Row>, options?: SettleOptions): Promise<Fate>;
  /**
   * Frees the row until it is due again. The attempt counts.
   *
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROW, LEASEHOLD_ALREADY_SETTLED, LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION.
   * @throws {LeaseholdError} LEASEHOLD_WORK_TABLE when `set` names a column that is not there; LEASEHOLD_STORE_TIMEOUT.
   * @throws {LeaseholdError} LEASEHOLD_ROW_LOST with `onLost: 'throw'`.
   */
  retry(row: RowRef, set: SetValues<Row>, options: RetryOptions): Promise<Fate>;
  /**
   * Hands the row back as if it had not been claimed: due at once, the attempt refunded.
   *
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROW, LEASEHOLD_ALREADY_SETTLED, LEASEHOLD_INVALID_OPTION, LEASEHOLD_STORE_TIMEOUT.
   * @throws {LeaseholdError} LEASEHOLD_ROW_LOST with `onLost: 'throw'`.
   */
  release(row: RowRef, options?: ReleaseOptions): Promise<Fate>;
  /**
   * Puts the row away for good: the table's `dead` columns and `set`.
   *
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROW, LEASEHOLD_ALREADY_SETTLED, LEASEHOLD_INVALID_OPTION, also where the table has no `dead`.
   * @throws {LeaseholdError} LEASEHOLD_WORK_TABLE when `set` names a column that is not there; LEASEHOLD_STORE_TIMEOUT.
   * @throws {LeaseholdError} LEASEHOLD_ROW_STILL_LIVE when `live` is still true for it.
   * @throws {LeaseholdError} LEASEHOLD_ROW_LOST with `onLost: 'throw'`.
   */
  bury(row: RowRef, set?: SetValues<Row>, options?: BuryOptions): Promise<Fate>;
  /**
   * Settles rows in different ways with one statement, and answers in the order asked.
   *
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROW, LEASEHOLD_ALREADY_SETTLED, LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION.
   * @throws {LeaseholdError} LEASEHOLD_WORK_TABLE when `set` names a column that is not there; LEASEHOLD_STORE_TIMEOUT.
   * @throws {LeaseholdError} LEASEHOLD_ROW_STILL_LIVE when `live` is still true for it.
   * @throws {LeaseholdError} LEASEHOLD_ROW_LOST with `onLost: 'throw'`.
   */
  settle(outcomes: readonly Outcome<Row>[], options?: SettleOptions): Promise<Fate[]>;
  /**
   * Prolongs the lease of all open rows, from now; never shortens it. A row that somebody has locked is passed by.
   *
   * @param lease 1 second to 1 day. @default the claim's lease, or that of the last renewal
   * @returns the rows that were found lost; their signals have aborted.
   * @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION, LEASEHOLD_STORE_TIMEOUT
   */
  renew(lease?: Duration): Promise<readonly Row[]>;
  /** Stops renewals and timers. Rows that are not settled stay leased until their lease ends. `await using` releases them. */
  close(): void;
}

export interface ClaimOptions {
  /** At most so many rows, 1 to 10,000. @default 10 */
  readonly limit?: number;
  /** For how long the rows are this claim's: 1 second to 1 day. @default '1m' */
  readonly lease?: Duration;
  /** Claims these rows alone; a function, such as `heldRoles()` answers, is asked anew each time. *Gotcha:* what the claim index does not know is found by looking at every due row before it. @default all that are due */
  readonly where?: Where;
  /** Claims from this group alone: every column of `groupBy` with its value. @default evenly from all groups */
  readonly group?: Readonly<Record<string, unknown>>;
  /** Written by the claim itself, for what has to be true even if the worker dies. The table's attempts are counted without it. @default nothing */
  readonly onClaim?: SetValues;
  /** The columns that the rows have. @default all */
  readonly returning?: readonly string[];
  /** Prolongs the lease at a third of it while rows are open. @default false */
  readonly autoRenew?: boolean;
  /** How long before the end of the lease {@link Claim.signal} aborts: 0 to half of the lease. @default a tenth of the lease, at most 10 seconds */
  readonly safetyMargin?: Duration;
  /** A statement is given up after this: at most half of the lease. @default a third of the lease, at most 30 seconds */
  readonly statementTimeout?: Duration;
}
