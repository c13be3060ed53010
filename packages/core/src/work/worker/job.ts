import type { SqlClient } from '../client.ts';
import type { Fate, SettleOptions } from '../fate.ts';
import type { SetValues } from '../set-values.ts';

/** What a handler is told about its row. */
export interface Job<Row extends object> {
  /** The token on the row. */
  readonly claimId: string;
  /** Which attempt this is, 1 for the first; null where the table counts none, or `returning` leaves the column out. */
  readonly attempt: number | null;
  /**
   * Aborts once: when the row was lost, before its lease ends without a renewal, at the timeout, or when the worker has
   * stopped draining. `reason.code` tells which.
   */
  readonly signal: AbortSignal;
  /** Milliseconds until the timeout; Infinity without one, 0 once the signal has aborted. */
  readonly timeLeftMs: number;
  /**
   * Finishes the row within a transaction of the handler's own, beside what the work has written; the worker then leaves
   * the row alone. What is thrown here, or after it, makes the row due again if the transaction was rolled back.
   *
   * @param client the connection that the transaction runs on.
   * @throws {LeaseholdError} LEASEHOLD_ROW_LOST with `onLost: 'throw'`, the default here.
   * @throws {LeaseholdError} LEASEHOLD_ALREADY_SETTLED, LEASEHOLD_INVALID_OPTION, LEASEHOLD_WORK_TABLE, LEASEHOLD_STORE_TIMEOUT, LEASEHOLD_ROW_STILL_LIVE
   */
  finalize(client: SqlClient, set?: SetValues<Row>, options?: Pick<SettleOptions, 'onLost'>): Promise<Fate>;
}
