/** Those who wait for something to happen, all told at once when it does. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  /** Resolves at the next {@link tell}, or when `signal` aborts; never rejects. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  tell(): void {
    for (const done of this.#waiting) done();
  }
}
