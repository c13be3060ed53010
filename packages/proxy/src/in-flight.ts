import type { Clock, ClockTimer } from '@leasehold/core';

/** What is looked at while it is in flight. */
export interface Watched {
  /** @param now of the monotonic clock. */
  check(now: number): void;
}

export interface InFlightOptions {
  readonly limit: number;
  readonly clock: Clock;
  /** How often everything in flight is looked at, in milliseconds. */
  readonly intervalMs: number;
}

/** The requests that are on their way to a holder: counted for the limit, and watched by one timer for all of them. */
export class InFlight<T extends Watched = Watched> {
  readonly #options: InFlightOptions;
  readonly #members = new Set<T>();
  #timer: ClockTimer | null = null;
  #closed = false;

  constructor(options: InFlightOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#members.size;
  }

  get isFull(): boolean {
    return this.#members.size >= this.#options.limit;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  add(member: T): void {
    this.#members.add(member);
    this.#timer ??= this.#schedule();
  }

  remove(member: T): void {
    this.#members.delete(member);
  }

  /** No more are let in; those in flight go on. */
  close(): void {
    this.#closed = true;
  }

  #schedule(): ClockTimer {
    return this.#options.clock.setTimer(this.#onTimer, this.#options.intervalMs);
  }

  /**
   * After a frozen process thaws, timers run before the answers that wait in the kernel are read. One round of the event
   * loop later they have been, and only what is truly late is taken for late.
   */
  readonly #onTimer = (): void => {
    this.#timer = null;
    setImmediate(this.#checkAll);
  };

  readonly #checkAll = (): void => {
    const now = this.#options.clock.monotonic();
    for (const member of this.#members) member.check(now);
    if (this.#members.size > 0) this.#timer ??= this.#schedule();
  };
}
