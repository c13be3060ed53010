import type { Clock, ClockTimer } from '../clock.ts';
import type { LeaseholdError } from '../errors.ts';
import { createTermSignal } from '../lease/term-signal.ts';
import { lapsedError, lostError } from './claimed-row.ts';
import { type ClaimedRows, leastTimeLeft } from './claimed-rows.ts';

/**
 * A timer stands still while the machine is suspended. With a look at the clocks every few seconds, work that only listens
 * hears of it soon after the machine resumes, and not a whole lease later.
 */
const LOOK_EVERY_MS = 5_000;

/** Aborts the signals of a claim and its rows when their leases are about to end: by a timer, and whenever one is looked at. */
export class LeaseWatch<Row extends object> {
  readonly #rows: ClaimedRows<Row>;
  readonly #clock: Clock;
  #controller: AbortController | null = null;
  #signal: AbortSignal | null = null;
  /** Why the signal is aborted, whether anybody has looked at it or not. */
  #reason: LeaseholdError | null = null;
  #timer: ClockTimer | null = null;

  constructor(rows: ClaimedRows<Row>, clock: Clock) {
    this.#rows = rows;
    this.#clock = clock;
  }

  /** Made when it is first asked for: with many small claims it would be the dearest part of each. */
  get signal(): AbortSignal {
    if (this.#signal !== null) return this.#signal;
    this.#controller = new AbortController();
    this.#signal = createTermSignal(this.#controller, () => this.#endIfLapsed());
    if (this.#reason !== null) this.#controller.abort(this.#reason);
    return this.#signal;
  }

  /** Of the open row whose lease ends first. */
  get timeLeftMs(): number {
    const { open } = this.#rows;
    return open.length === 0 || this.#reason !== null ? 0 : leastTimeLeft(open, this.#clock);
  }

  /** Sets the timer anew: for the next lease that ends, also after one has ended that could not be renewed. */
  watch(): void {
    this.stop();
    const believed = this.#rows.open.filter(({ until }) => until !== null);
    if (believed.length === 0) {
      this.#endIfLapsed();
      return;
    }
    // Rounded up: a timer that fires a fraction early would find nothing to end.
    const delayMs = Math.ceil(Math.min(LOOK_EVERY_MS, leastTimeLeft(believed, this.#clock)));
    this.#timer = this.#clock.setTimer(() => {
      this.#endIfLapsed();
      this.watch();
    }, delayMs);
  }

  /** None of the rows is this claim's any more. */
  lose(): void {
    this.#abort(lostError());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #endIfLapsed(): void {
    const lapsed = this.#rows.open.filter((row) => row.endIfLapsed());
    if (lapsed.length > 0) this.#abort(lapsedError());
  }

  #abort(reason: LeaseholdError): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }
}
