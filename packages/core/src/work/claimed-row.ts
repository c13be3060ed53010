import type { Clock } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import { createTermSignal } from '../lease/term-signal.ts';
import { type Deadline, timeLeft } from './deadline.ts';

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
  readonly #clock: Clock;
  #until: Deadline;
  #controller: AbortController | null = null;
  #signal: AbortSignal | null = null;

  constructor(row: Row, ref: readonly string[], { clock, until }: { clock: Clock; until: Deadline }) {
    this.row = row;
    this.ref = ref;
    this.#clock = clock;
    this.#until = until;
  }

  /** May still be settled, so that its lease is worth prolonging. */
  get isOpen(): boolean {
    return this.state === 'open' || this.state === 'elsewhere';
  }

  get timeLeftMs(): number {
    return timeLeft(this.#clock, this.#until);
  }

  /** A lease that was given up once is not believed in again, though a renewal may have been in time. */
  prolong(until: Deadline): void {
    if (this.#controller?.signal.aborted !== true) this.#until = until;
  }

  get signal(): AbortSignal {
    if (this.#signal !== null) return this.#signal;
    this.#controller = new AbortController();
    this.#signal = createTermSignal(this.#controller, () => this.endIfLapsed());
    this.endIfLapsed();
    return this.#signal;
  }

  /** Aborts the signal once the lease is about to end. */
  endIfLapsed(): void {
    if (this.state === 'lost') this.#abort(lostError());
    else if (this.isOpen && this.timeLeftMs === 0) this.#abort(lapsedError());
  }

  lose(): void {
    this.state = 'lost';
    this.endIfLapsed();
  }

  #abort(reason: LeaseholdError): void {
    this.#controller?.abort(reason);
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
