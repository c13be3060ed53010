import type { Clock } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import { createTermSignal } from '../lease/term-signal.ts';
import { type Deadline, timeLeft } from './deadline.ts';
import type { OutcomeName } from './fate.ts';

/**
 * - `open`: to be settled.
 * - `elsewhere`: settled within a transaction of the caller's, whose end is not known here.
 * - `settled`, `lost`: over.
 */
export type RowState = 'open' | 'elsewhere' | 'settled' | 'lost';

/** One row of a claim, and how long it is believed to be leased. */
export class ClaimedRow<Row extends object> {
  readonly row: Row;
  /** The id's columns as text. */
  readonly ref: readonly string[];
  state: RowState = 'open';
  /** A call that settles it is under way: its answer tells more than that of a renewal beside it. */
  isSettling = false;
  /** How it was settled by a call that failed for other rows, so that its caller has not heard of it. */
  untold: OutcomeName | null = null;
  readonly #clock: Clock;
  #until: Deadline;
  #gaveUp = false;
  #controller: AbortController | null = null;
  #signal: AbortSignal | null = null;

  constructor(row: Row, ref: readonly string[], { clock, until }: { clock: Clock; until: Deadline }) {
    this.row = row;
    this.ref = ref;
    this.#clock = clock;
    this.#until = until;
  }

  /** May still be settled. */
  get isOpen(): boolean {
    return this.state === 'open' || this.state === 'elsewhere';
  }

  /** Until when it is believed to be leased; null once that was given up. */
  get until(): Deadline | null {
    return this.#gaveUp ? null : this.#until;
  }

  get timeLeftMs(): number {
    return this.#gaveUp ? 0 : timeLeft(this.#clock, this.#until);
  }

  /**
   * A lease that was given up once is not believed in again, though a renewal may have been in time. Nor does a renewal shorten
   * belief, as it shortens no lease: answers may come in another order than the statements were run in.
   */
  prolong(until: Deadline): void {
    if (until.monotonic > this.#until.monotonic) this.#until = until;
  }

  get signal(): AbortSignal {
    if (this.#signal !== null) return this.#signal;
    this.#controller = new AbortController();
    this.#signal = createTermSignal(this.#controller, () => this.endIfLapsed());
    this.endIfLapsed();
    return this.#signal;
  }

  /** Aborts the signal once the lease is about to end, and answers whether it is. */
  endIfLapsed(): boolean {
    if (this.state === 'lost') this.#controller?.abort(lostError());
    if (!this.isOpen || this.timeLeftMs > 0) return false;
    this.#gaveUp = true;
    this.#controller?.abort(lapsedError());
    return true;
  }

  lose(): void {
    this.state = 'lost';
    this.endIfLapsed();
  }
}

export function lapsedError(): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_LEASE_ENDING',
    'the lease of the row is about to end, and another worker may claim it; renew it, claim for longer, or claim fewer rows at a time.',
  );
}

export function lostError(): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_ROW_LOST',
    'the row is not this claim’s any more: another worker claimed it, or it was deleted.',
  );
}
