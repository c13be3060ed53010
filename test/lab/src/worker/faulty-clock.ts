import { type Clock, systemClock } from '@leasehold/core';

export interface FaultyClock extends Clock {
  /** Sets this process's wall clock forward or, negative, back. */
  jumpWall(ms: number): void;
}

export interface FaultyClockOptions {
  /** How far this process's wall clock is off from the start. */
  readonly wallOffsetMs: number;
  /**
   * How fast its monotonic clock runs; 1 is right. Anything less breaks the promise that Leasehold rests on: it is how
   * the lab shows that its checker sees two holders when there are two.
   */
  readonly monotonicRate: number;
}

export function faultyClock({ wallOffsetMs, monotonicRate }: FaultyClockOptions): FaultyClock {
  let offsetMs = wallOffsetMs;
  const startedAt = systemClock.wall();
  // A slow machine is slow throughout, so the wall clock is no alarm for it.
  const wall = (): number => startedAt + (systemClock.wall() - startedAt) * monotonicRate + offsetMs;
  return {
    monotonic: () => systemClock.monotonic() * monotonicRate,
    wall,
    setTimer: (callback, delayMs) => systemClock.setTimer(callback, delayMs / monotonicRate),
    jumpWall: (ms) => void (offsetMs += ms),
  };
}
