import { nowUs } from '../../lab/src/monotonic.ts';

/** A stretch of the machine's monotonic clock, in microseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const EVERY_MS = 25;
/** Shorter ones are ordinary life. */
const SHORTEST_US = 75_000;

/** Tells when this process did not run: frozen, or without a processor on a machine that is busy with something else. */
export function watchStalls(tell: (stall: Span) => void): { stop: () => void } {
  let last = nowUs();
  const timer = setInterval(() => {
    const now = nowUs();
    if (now - last >= SHORTEST_US) tell({ from: last, to: now });
    last = now;
  }, EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
