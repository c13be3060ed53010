import type { Duration } from '../duration.ts';
import type { ReleaseOutcome } from '../store/lease-store.ts';
import type { RepeatedWork } from './every.ts';
import type { Term } from './term.ts';

/**
 * - `standby`: not held; competing, or standing aside.
 * - `held`: held, and the last renewal that was due succeeded.
 * - `jeopardy`: still held, but a renewal that was due has not succeeded. Start nothing long.
 * - `stopped`: this Leasehold is stopping or was stopped.
 */
export type LeaseState = 'standby' | 'held' | 'jeopardy' | 'stopped';

export type WhileHeldResult<T> =
  | { readonly ran: true; readonly value: T }
  | { readonly ran: false; readonly currentHolder: string | null };

/** `not-held`: there was no term to end. `not-drained`: work still ran at the drain timeout, so the lease runs out by itself. */
export type StepDownOutcome = ReleaseOutcome | 'not-drained';

export interface StepDownOptions {
  /** How long not to compete for the role afterwards; `'until-told'` waits for `leasehold.compete()`. @default the lease duration */
  readonly standAside?: Duration | 'until-told';
}

/** One role, as one instance sees it. */
export interface RoleLease {
  readonly role: string;
  /**
   * Whether this instance holds the role: computed at the call from two local clocks, without I/O.
   *
   * *Gotcha:* true means "for now". Ask before each unit of work, not once before a loop; put what must not happen twice
   * behind {@link Term.fence}.
   */
  readonly isHeld: boolean;
  readonly state: LeaseState;
  /** The token of the current term, or null when not held. */
  readonly fencingToken: bigint | null;
  /** Id of the instance that held at the last heartbeat, or null. A diagnostic snapshot: `isHeld` alone is correctness. */
  readonly currentHolder: string | null;
  /** Origin of {@link currentHolder}, or null when it advertises none. */
  readonly currentHolderAddress: string | null;
  /** What is left of this instance's own term if no renewal succeeds any more, in milliseconds; 0 when not held. */
  readonly remainingMs: number;
  /** What is left of the lease of {@link currentHolder} as last seen, in milliseconds; 0 when nobody is known to hold. */
  readonly holderRemainingMs: number;
  readonly renewIntervalMs: number;
  readonly leaseDurationMs: number;
  /**
   * Runs `work` once if the role is held, and waits for it. A stop or step-down waits for such work (bounded by
   * `drainTimeout`) before it gives the role away. What `work` throws is thrown.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when `work` is no function.
   */
  whileHeld<T>(work: (term: Term) => T | Promise<T>): Promise<WhileHeldResult<T>>;
  /**
   * Repeats `work`, each cycle gated by {@link whileHeld}: the first at once, or as soon as the role is held; the next
   * `interval` after the start of the last or when that has ended, whichever is later. A cycle that throws is logged, and
   * the next one runs.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_OPTION, LEASEHOLD_STOPPED
   */
  every(interval: Duration, work: (term: Term) => unknown): RepeatedWork;
  /**
   * Ends the term here and now (`isHeld` is false before this returns), waits for the work that runs under it, gives the
   * role back and wakes the others.
   *
   * *Gotcha:* work under the role that waits for it waits for itself, until `drainTimeout`; the role is then left to run
   * out. Call it there without `await`. The same is true of `leasehold.stop()`.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_OPTION
   */
  stepDown(options?: StepDownOptions): Promise<StepDownOutcome>;
}
