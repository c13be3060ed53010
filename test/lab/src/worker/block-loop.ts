import { nowUs } from '../monotonic.ts';

const LOOK_EVERY_MS = 10;

/**
 * Keeps the event loop from turning, and goes on looking meanwhile at what this process may believe, as a long computation
 * would. It sleeps between two looks: the fault is the blocked loop, not a busy processor, which other processes need.
 */
export function blockLoop(ms: number, look: () => void): void {
  const until = nowUs() + ms * 1_000;
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (nowUs() < until) {
    look();
    Atomics.wait(never, 0, 0, LOOK_EVERY_MS);
  }
  // Once more before any timer runs: what a frozen process sees first when it wakes up.
  look();
}
