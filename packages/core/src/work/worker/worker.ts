import type { Duration } from '../../duration.ts';

/** A loop that claims rows of a work table, runs the handler on them, and settles them. */
export interface Worker extends AsyncDisposable {
  /** `stopping` from the call of {@link stop}, `stopped` after it. */
  readonly state: 'running' | 'stopping' | 'stopped';
  /** Resolves when it has stopped; never rejects. */
  readonly ended: Promise<void>;
  /**
   * Claims no more, hands back what waits, lets handlers run for `drainFor`, aborts the signals of those that still do,
   * and settles what has an outcome. Never rejects; a second call gets the promise of the first.
   *
   * *Gotchas:* a handler that waits for it waits for itself, until `drainFor`. A handler that goes on in spite of its
   * signal is left: its row is claimed again when its lease has run out.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION
   */
  stop(options?: StopOptions): Promise<void>;
  /** Counted since the start, and how many there are at this moment. */
  stats(): WorkerStats;
}

export interface StopOptions {
  /** How long handlers may run before their signals abort. 0 waits for nothing. @default that of `work()` */
  readonly drainFor?: Duration;
}

export interface WorkerStats {
  /** Claims that were answered. */
  readonly claims: number;
  /** Of these, those that found nothing due. */
  readonly emptyClaims: number;
  /** Rows claimed. */
  readonly claimed: number;
  readonly done: number;
  readonly retried: number;
  readonly released: number;
  /** Rows put away, by this worker and by its claims. */
  readonly buried: number;
  /** Rows that were no more this worker's when they were to be settled: claimed by another, settled or deleted. */
  readonly lost: number;
  /** Rows whose outcome could not be written: they are claimed again after their lease. */
  readonly abandoned: number;
  /** Handlers that threw, or returned what no helper made. */
  readonly failed: number;
  /** Handlers that ran into their timeout. */
  readonly timedOut: number;
  /** Handlers that run now. */
  readonly running: number;
  /** Of these, handlers that went on after their row was given up: each occupies a slot. */
  readonly stuck: number;
  /** Rows that wait here for a handler. */
  readonly waiting: number;
  /** Outcomes that are not written yet. */
  readonly unsettled: number;
}
