import { type Clock, delay } from '../clock.ts';
import { Waiters } from './waiters.ts';

/** Counts the work that runs under a role, so that the role is given away only after it. */
export class RunningWork {
  #running = 0;
  readonly #idle = new Waiters();

  get isIdle(): boolean {
    return this.#running === 0;
  }

  async track<T>(work: () => T | Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#idle.tell();
    }
  }

  /** True once nothing runs, false when `timeoutMs` has passed first. */
  async drained(clock: Clock, timeoutMs: number): Promise<boolean> {
    if (this.#running === 0) return true;
    const over = new AbortController();
    await Promise.race([this.#idle.wait(over.signal), delay(clock, timeoutMs, over.signal)]);
    over.abort();
    return this.#running === 0;
  }
}
