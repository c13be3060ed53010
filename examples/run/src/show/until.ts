import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 5;

export interface UntilOptions {
  readonly timeoutMs: number;
  /** What is waited for, to say when it does not come. */
  readonly what: string;
  readonly signal: AbortSignal;
}

/** Waits until `look` finds something. Never sleeps in order to be right. */
export async function until<T>(look: () => T | undefined | false, { timeoutMs, what, signal }: UntilOptions): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`${what} did not happen within ${timeoutMs} ms`);
    await sleep(POLL_MS, undefined, { signal });
  }
}
