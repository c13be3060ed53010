import { type Clock, delay } from '../clock.ts';

/** Counts the work that runs under a role, so that the role is given away only after it. */
export class RunningWork {
  #running = 0;
  #idle: (() => void)[] = [];

  get isIdle(): boolean {
    return this.#running === 0;
  }

  async track<T>(work: () => T | Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#tellIdle();
    }
  }

  /** True once nothing runs, false when `timeoutMs` has passed first. */
  async drained(clock: Clock, timeoutMs: number): Promise<boolean> {
    if (this.#running === 0) return true;
    const controller = new AbortController();
    this.#idle.push(() => controller.abort());
    await delay(clock, timeoutMs, controller.signal);
    return this.#running === 0;
  }

  #tellIdle(): void {
    const waiting = this.#idle;
    this.#idle = [];
    for (const tell of waiting) tell();
  }
}
