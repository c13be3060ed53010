/**
 * The only file that reads a clock or sets a timer (a lint rule says so), so that a test can replace time whole.
 *
 * Two clocks, used for two different things. The *monotonic* clock measures how long this process may believe that it
 * holds. The *wall* clock is an alarm alone: `CLOCK_MONOTONIC` stands still while a machine is suspended, and a wall
 * clock that has run past the deadline is how a resumed process notices. It can end belief, never prolong it.
 */
export interface Clock {
  /** Milliseconds that only rise; the origin means nothing. */
  monotonic(): number;
  /** Milliseconds since the Unix epoch; may jump either way. */
  wall(): number;
  /** Calls `callback` once, at the earliest `delayMs` from now. The timer keeps no process alive. */
  setTimer(callback: () => void, delayMs: number): ClockTimer;
}

export interface ClockTimer {
  cancel(): void;
}

/** Node clamps a longer delay to 1 ms, which would turn a long wait into a busy loop; such a wait is made of several. */
const LONGEST_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  setTimer: (callback, delayMs) => {
    let timer: NodeJS.Timeout | undefined;
    const wait = (leftMs: number): void => {
      const partMs = Math.min(leftMs, LONGEST_TIMER_MS);
      timer = setTimeout(() => (partMs < leftMs ? wait(leftMs - partMs) : callback()), partMs);
      timer.unref();
    };
    wait(Math.max(delayMs, 0));
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Keeps the process alive, which no {@link Clock} does, until the function that it returns is called. */
export function keepProcessAlive(): () => void {
  const timer = setInterval(() => {}, LONGEST_TIMER_MS);
  return () => clearInterval(timer);
}

/** Resolves after `delayMs`, or as soon as `signal` aborts; never rejects. */
export function delay(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimer(done, delayMs);
    signal?.addEventListener('abort', done, { once: true });
  });
}
