import type { Clock, ClockTimer } from '@leasehold/core';

/** What is looked at while it is in flight. */
export interface Watched {
  /** Where it stands in the list; of no meaning outside. */
  place: number;
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
export class InFlight {
  readonly #options: InFlightOptions;
  /** Left by putting the last in the gap: a Set would rebuild its table all the time, as members come and go. */
  readonly #members: Watched[] = [];
  #timer: ClockTimer | null = null;
  #closed = false;

  constructor(options: InFlightOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#members.length;
  }

  get isFull(): boolean {
    return this.#members.length >= this.#options.limit;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  add(member: Watched): void {
    member.place = this.#members.push(member) - 1;
    this.#watch();
  }

  /** Harmless when it is not in flight any more. */
  remove(member: Watched): void {
    if (this.#members[member.place] !== member) return;
    const last = this.#members.pop() as Watched;
    if (last === member) return;
    this.#members[member.place] = last;
    last.place = member.place;
  }

  /** No more are let in; those in flight go on. */
  close(): void {
    this.#closed = true;
  }

  #watch(): void {
    if (this.#timer === null) this.#timer = this.#options.clock.setTimer(this.#onTimer, this.#options.intervalMs);
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
    // From the end: whoever leaves during its check is replaced by one that was looked at already.
    for (let place = this.#members.length - 1; place >= 0; place--) this.#members[place]?.check(now);
    if (this.#members.length > 0) this.#watch();
  };
}
