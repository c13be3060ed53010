import type { Clock } from '../clock.ts';

/**
 * Until when rows may be believed to be leased: measured from before the statement was sent. The wall clock is an alarm
 * alone, as the monotonic one stands still while a machine is suspended.
 */
export interface Deadline {
  readonly monotonic: number;
  readonly wall: number;
}

/** Both clocks at one moment. */
export function moment(clock: Clock): Deadline {
  return { monotonic: clock.monotonic(), wall: clock.wall() };
}

export function after(start: Deadline, ms: number): Deadline {
  return { monotonic: start.monotonic + ms, wall: start.wall + ms };
}

/** By each clock the one that comes first; null of none. */
export function earliest(deadlines: Iterable<Deadline>): Deadline | null {
  let found: Deadline | null = null;
  for (const one of deadlines) {
    if (found === null || found === one) found = one;
    else found = { monotonic: Math.min(found.monotonic, one.monotonic), wall: Math.min(found.wall, one.wall) };
  }
  return found;
}

/** Milliseconds until the nearer of the two, at least 0. */
export function timeLeft(clock: Clock, deadline: Deadline): number {
  return Math.max(0, Math.min(deadline.monotonic - clock.monotonic(), deadline.wall - clock.wall()));
}
