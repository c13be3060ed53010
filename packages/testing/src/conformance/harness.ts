import type { LeaseStore } from '@leasehold/core';

/** What the suite needs of the store that is to be proved. */
export interface ConformanceHarness {
  /** A store of its own (its own connection) on the same rows as all others of this harness. The suite opens and closes it. */
  createStore(): LeaseStore;
  /** Runs `work` within one transaction, with the client that `fence` takes: commits, or rolls back and rejects if `work` rejects. */
  transaction<T>(work: (client: unknown) => Promise<T>): Promise<T>;
  /** Lets time pass by the store's clock: moves a manual clock, ages the rows, or really waits. */
  advance(ms: number): Promise<void>;
  /**
   * A lease that a case lets run out, in milliseconds. It has to outlast a few calls to the store, and is waited for by
   * {@link advance}: give a long one where time is moved by hand.
   *
   * @default 1000
   */
  readonly shortLeaseMs?: number;
  /** How long, in real milliseconds, a case waits for a wake-up, or for a call to settle, before it fails. @default 5000 */
  readonly patienceMs?: number;
  /** Whether the store wakes the other instances. One that does not works by polling alone. @default true */
  readonly wakesUp?: boolean;
  /** Strikes the row of a role, as an operator might. Without it, the cases that need it are left out. */
  deleteRow?(role: string): Promise<void>;
  /** Changes for how long each renewal keeps the row, as an operator might. Without it, the cases that need it are left out. */
  changeLease?(role: string, leaseMs: number): Promise<void>;
  /** Runs `work` while somebody else has the row of the role locked. Without it, the cases that need it are left out. */
  lockRow?(role: string, work: () => Promise<void>): Promise<void>;
}

/** One rule. Rejects with an `AssertionError` when the store breaks it. */
export interface ConformanceCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}
