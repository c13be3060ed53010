import type { Stopwatch } from './workload.ts';

const DEADLINE_MS = 60_000;

/**
 * For what runs handlers by itself: the measured time begins with the first of them, and ends when the database has no live row left,
 * for which it is asked only after the last one has run.
 */
export class UntilDrained {
  readonly #rows: number;
  readonly #stopwatch: Stopwatch;
  readonly #allHandled = Promise.withResolvers<void>();
  #handled = 0;

  constructor(rows: number, stopwatch: Stopwatch) {
    this.#rows = rows;
    this.#stopwatch = stopwatch;
  }

  handled(count = 1): void {
    if (this.#handled === 0) this.#stopwatch.begin();
    this.#handled += count;
    if (this.#handled >= this.#rows) this.#allHandled.resolve();
  }

  async wait(isDrained: () => Promise<boolean>): Promise<void> {
    const timeout = setTimeout(() => this.#fail(), DEADLINE_MS);
    await this.#allHandled.promise.finally(() => clearTimeout(timeout));
    const deadline = performance.now() + DEADLINE_MS;
    while (!(await isDrained())) {
      if (performance.now() > deadline) throw new Error(`rows are live ${DEADLINE_MS} ms after all have been handled`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    this.#stopwatch.end();
  }

  #fail(): void {
    this.#allHandled.reject(new Error(`${this.#handled} of ${this.#rows} rows were handled within ${DEADLINE_MS} ms`));
  }
}
