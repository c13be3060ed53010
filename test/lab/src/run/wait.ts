import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after `ms`, or as soon as `signal` aborts; never rejects. */
export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

const POLL_MS = 50;

/** Asks until the answer is true; false when `deadlineMs` have passed first, or when `signal` has aborted. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const endsAt = performance.now() + deadlineMs;
  while (!signal.aborted) {
    if (await condition()) return true;
    if (performance.now() >= endsAt) return false;
    await waitFor(POLL_MS, signal);
  }
  return false;
}
