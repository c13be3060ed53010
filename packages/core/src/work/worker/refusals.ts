import type { Clock } from '../../clock.ts';

/** One row or two that the database refuses are the fault of these rows. More in a row are a fault of the table or of the options. */
const HARMLESS = 3;
const FIRST_PAUSE_MS = 200;

export interface RefusalsOptions {
  readonly clock: Clock;
  readonly longestPauseMs: number;
}

/**
 * Outcomes that are refused one after another: nothing that handlers do can be written down, and each claim would only
 * have them do it again. Claims are spaced ever more widely, until an outcome can be written.
 */
export class Refusals {
  readonly #options: RefusalsOptions;
  #inARow = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  refused(): void {
    this.#inARow += 1;
    const excess = this.#inARow - HARMLESS;
    if (excess <= 0) return;
    const { clock, longestPauseMs } = this.#options;
    this.#pausedUntil = clock.monotonic() + Math.min(longestPauseMs, FIRST_PAUSE_MS * 2 ** Math.min(excess, 30));
  }

  written(): void {
    this.#inARow = 0;
    this.#pausedUntil = Number.NEGATIVE_INFINITY;
  }

  /** How long the next claim should wait. */
  get pauseMs(): number {
    return Math.max(this.#pausedUntil - this.#options.clock.monotonic(), 0);
  }
}
