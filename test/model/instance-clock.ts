import type { Clock, ClockTimer } from '../../packages/core/src/index.ts';
import type { ManualClock } from '../../packages/testing/src/manual-clock.ts';

export interface MachineOptions {
  /** How fast its clocks run, against the store's. */
  readonly rate: number;
  /** First reading of its monotonic clock: that of one machine means nothing on another. */
  readonly origin: number;
}

/** What reaches a process from outside, and waits while the process is frozen. */
type Source = 'timer' | 'network';

/** Timers fire this much late, so that rounding never makes one fire early: core would set it again, for ever. */
const ROUNDING_MS = 0.001;

/**
 * The clocks of one machine, over the time that all machines and the store share: at a rate of its own, with a wall clock
 * that jumps. The process on it can be frozen (its clocks go on, it does nothing), and the machine suspended (the
 * monotonic clock stands still too).
 */
export class InstanceClock implements Clock {
  readonly #shared: ManualClock;
  readonly #rate: number;
  readonly #origin: number;
  readonly #onEvent: () => void;
  #wallOffset = 1_900_000_000_000;
  #sleptMs = 0;
  #asleepSince: number | null = null;
  #frozen = false;
  #dead = false;
  #waiting: { readonly source: Source; readonly run: () => void }[] = [];

  constructor(shared: ManualClock, options: MachineOptions, onEvent: () => void) {
    this.#shared = shared;
    this.#rate = options.rate;
    this.#origin = options.origin;
    this.#onEvent = onEvent;
  }

  monotonic(): number {
    return this.#origin + (this.#shared.monotonic() - this.#asleepMs) * this.#rate;
  }

  wall(): number {
    return this.monotonic() + this.#wallOffset + this.#asleepMs;
  }

  setTimer(callback: () => void, delayMs: number): ClockTimer {
    const due = this.monotonic() + Math.max(delayMs, 0);
    let cancelled = false;
    let timer: ClockTimer;
    const fire = (): void => {
      if (cancelled) return;
      // A machine that slept meanwhile has not come to that time yet.
      if (this.monotonic() < due) arm();
      else callback();
    };
    const arm = (): void => {
      const delay = (due - this.monotonic()) / this.#rate + ROUNDING_MS;
      timer = this.#shared.setTimer(() => this.deliver('timer', fire), delay);
    };
    arm();
    const cancel = (): void => {
      cancelled = true;
      timer.cancel();
    };
    return { cancel };
  }

  /** False while the process runs no code. */
  get awake(): boolean {
    return !this.#frozen && !this.#dead;
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** Runs `run` now, or when the process thaws, or never. */
  deliver(source: Source, run: () => void): void {
    if (this.#dead) return;
    if (this.#frozen) {
      this.#waiting.push({ source, run });
      return;
    }
    run();
    this.#onEvent();
  }

  freeze(): void {
    this.#frozen = true;
  }

  suspend(): void {
    if (this.#frozen) return;
    this.#frozen = true;
    this.#asleepSince = this.#shared.monotonic();
  }

  /** Ends a freeze or a suspension. What was waiting happens one after another, `first` before the rest. */
  async thaw(first: Source, settle: () => Promise<void>): Promise<void> {
    if (!this.#frozen || this.#dead) return;
    this.#sleptMs = this.#asleepMs;
    this.#asleepSince = null;
    this.#frozen = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    const ordered = [...waiting.filter(({ source }) => source === first), ...waiting.filter(({ source }) => source !== first)];
    // The application's own code may be what runs first.
    this.#onEvent();
    for (const { source, run } of ordered) {
      this.deliver(source, run);
      await settle();
    }
  }

  /** The process ends without a word. */
  kill(): void {
    this.#dead = true;
    this.#waiting = [];
  }

  jumpWall(ms: number): void {
    this.#wallOffset += ms;
  }

  get #asleepMs(): number {
    return this.#sleptMs + (this.#asleepSince === null ? 0 : this.#shared.monotonic() - this.#asleepSince);
  }
}
