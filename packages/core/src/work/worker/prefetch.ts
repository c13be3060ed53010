/** How soon a row that waits here should be begun: long enough to hide a claim, short enough for other workers not to stand idle. */
const WINDOW_MS = 2_000;
const SHORTEST_MS = 0.05;
/** The weight of the newest handler in the average. */
const NEWEST = 0.1;

export interface PrefetchOptions {
  readonly concurrency: number;
  readonly most: number;
  readonly leaseMs: number;
}

/** How many rows may be claimed ahead, by the time that handlers have taken so far. */
export class Prefetch {
  readonly #options: PrefetchOptions;
  #averageMs: number | null = null;

  constructor(options: PrefetchOptions) {
    this.#options = options;
  }

  observe(durationMs: number): void {
    this.#averageMs = this.#averageMs === null ? durationMs : this.#averageMs * (1 - NEWEST) + durationMs * NEWEST;
  }

  /** None before the first handler has ended. */
  get allowance(): number {
    if (this.#averageMs === null) return 0;
    const { concurrency, most, leaseMs } = this.#options;
    const windowMs = Math.min(WINDOW_MS, leaseMs / 2);
    return Math.min(most, Math.floor((concurrency * windowMs) / Math.max(this.#averageMs, SHORTEST_MS)));
  }
}
