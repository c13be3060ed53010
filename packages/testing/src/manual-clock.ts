import { type Clock, type ClockTimer, LeaseholdError } from '@leasehold/core';

export interface ManualClockOptions {
  /** First reading of the wall clock, in milliseconds since the Unix epoch. @default 2030-01-01T00:00:00Z */
  readonly wall?: number;
}

/** Time that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /**
   * Moves both clocks by `ms`, running the timers that come due, in order, each at its own time. Everything that a timer
   * sets going without I/O has happened before the next timer runs.
   *
   * Gotchas: work that waits for I/O (a query) is not waited for.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION when `ms` is negative or not finite.
   */
  advance(ms: number): Promise<void>;
  /**
   * Moves both clocks and runs nothing: a process that was frozen. Overdue timers run at the next `advance(0)`.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION when `ms` is negative or not finite.
   */
  jump(ms: number): void;
  /** Moves the wall clock alone: a machine that was suspended, or whose time was set. May be negative. */
  jumpWall(ms: number): void;
  /** Timers set and neither run nor cancelled. */
  readonly pendingTimers: number;
}

/**
 * Makes a clock for tests: give it as the option `clock`.
 *
 * @example
 * ```ts
 * const clock = manualClock();
 * clock.setTimer(() => console.log('due'), 5_000);
 * await clock.advance(5_000);
 * ```
 */
export function manualClock(options: ManualClockOptions = {}): ManualClock {
  return new SteppedClock(options.wall ?? Date.UTC(2030, 0, 1));
}

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

class SteppedClock implements ManualClock {
  #monotonic = 0;
  #wall: number;
  /** In the order they were set, which decides between timers due at the same time. */
  readonly #timers = new Set<Timer>();

  constructor(wall: number) {
    this.#wall = wall;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  wall(): number {
    return this.#wall;
  }

  setTimer(callback: () => void, delayMs: number): ClockTimer {
    const timer = { due: this.#monotonic + Math.max(delayMs, 0), callback };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.delete(timer) };
  }

  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + checkForward('advance', ms);
    await settle();
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#moveTo(timer.due);
      this.#timers.delete(timer);
      timer.callback();
      await settle();
    }
    this.#moveTo(end);
  }

  jump(ms: number): void {
    this.#moveTo(this.#monotonic + checkForward('jump', ms));
  }

  jumpWall(ms: number): void {
    this.#wall += ms;
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.due <= end && (next === undefined || timer.due < next.due)) next = timer;
    }
    return next;
  }

  /** Never back: a timer that came due during a jump runs late. */
  #moveTo(monotonic: number): void {
    const ms = Math.max(monotonic - this.#monotonic, 0);
    this.#monotonic += ms;
    this.#wall += ms;
  }
}

function checkForward(method: string, ms: number): number {
  if (Number.isFinite(ms) && ms >= 0) return ms;
  throw new LeaseholdError(
    'LEASEHOLD_INVALID_DURATION',
    `${method}(${ms}): time only moves forward; give milliseconds, 0 or more. jumpWall() may go back.`,
  );
}

/** The real one, whatever fake timers a test installs later. */
const { setImmediate } = globalThis;

/** All promise continuations have run before the event loop comes to an immediate. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
