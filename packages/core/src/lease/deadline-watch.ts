import type { Clock, ClockTimer } from '../clock.ts';
import type { ManagedLease } from './managed-lease.ts';

/**
 * Ends terms at their deadline even while a heartbeat hangs. `isHeld` needs no timer to be true to the clock; this one is
 * for the signal and the announcement of a term that nobody happens to ask about.
 */
export class DeadlineWatch {
  readonly #clock: Clock;
  readonly #leases: Iterable<ManagedLease>;
  #timer: ClockTimer | null = null;

  constructor(clock: Clock, leases: Iterable<ManagedLease>) {
    this.#clock = clock;
    this.#leases = leases;
  }

  /** Ends what is over and sets the timer for the next deadline. */
  arm(): void {
    this.cancel();
    let next = Number.POSITIVE_INFINITY;
    for (const lease of this.#leases) {
      if (lease.isHeld) next = Math.min(next, lease.deadline);
    }
    if (next === Number.POSITIVE_INFINITY) return;
    // Rounded up: a timer that fires a fraction early would find nothing to end and set itself again at once.
    this.#timer = this.#clock.setTimer(() => this.arm(), Math.ceil(next - this.#clock.monotonic()));
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }
}
