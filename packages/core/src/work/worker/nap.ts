import type { Clock, ClockTimer } from '../../clock.ts';

/** A sleep that can be cut short, also before it has begun. */
export class Nap {
  readonly #clock: Clock;
  /** When somebody wants it to be over, by the monotonic clock. */
  #wanted = Number.POSITIVE_INFINITY;
  #timer: ClockTimer | null = null;
  #end: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves after `ms`, or as soon as {@link wake} has asked for since the last sleep. */
  async sleep(ms: number): Promise<void> {
    const until = this.#clock.monotonic() + ms;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = () => this.#arm(until, resolve);
    this.#end();
    await promise;
    this.#end = null;
    if (this.#wanted <= this.#clock.monotonic()) this.#wanted = Number.POSITIVE_INFINITY;
  }

  /** Ends the sleep that there is, or the next one, after `ms` at the latest. */
  wake(ms: number = 0): void {
    const wanted = this.#clock.monotonic() + ms;
    if (wanted >= this.#wanted) return;
    this.#wanted = wanted;
    this.#end?.();
  }

  #arm(until: number, resolve: () => void): void {
    this.#timer?.cancel();
    const leftMs = Math.min(until, this.#wanted) - this.#clock.monotonic();
    if (leftMs <= 0) resolve();
    else if (leftMs < Number.POSITIVE_INFINITY)
      this.#timer = this.#clock.setTimer(() => this.#arm(until, resolve), Math.ceil(leftMs));
  }
}
