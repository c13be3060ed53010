import type { Duration } from '../../duration.ts';
import type { Random } from '../../lease/pacing.ts';
import type { ClaimOptions } from '../claim.ts';
import type { After } from '../fate.ts';
import type { Where } from '../where.ts';
import type { Job } from './job.ts';
import type { HandlerResult } from './outcome.ts';

type PassedOn = 'lease' | 'group' | 'onClaim' | 'returning' | 'safetyMargin' | 'statementTimeout';

/** Of `work()`. Also the options of `claim()` that are about which rows, and for how long. */
export interface WorkOptions<Row extends object> extends Pick<ClaimOptions, PassedOn> {
  /**
   * Does the work of one row. What it throws makes the row due again after `backoff`, or buries it with the last attempt.
   *
   * *Gotcha:* it runs at least once, and again when a worker died or lost the row: use the row's id as the idempotency key.
   */
  readonly handler: (row: Row, job: Job<Row>) => HandlerResult | Promise<HandlerResult>;
  /** As many handlers run at once: 1 to 1,000. @default 10 */
  readonly concurrency?: number;
  /**
   * At most so many rows are claimed ahead and wait here, 0 to 10,000. Less where handlers take long: what waits should be begun within 2
   * seconds, and half a lease, by the time that handlers have taken so far. @default ten times `concurrency`
   */
  readonly prefetch?: number;
  /** Works on these rows alone. A function is asked anew for each claim, as `heldRoles()` is. @default all that are due */
  readonly where?: Where;
  /**
   * After this the handler's signal aborts and its row is given up; the lease is prolonged as long. `'none'`: while it runs.
   * @default the lease less its safety margin
   */
  readonly timeout?: Duration | 'none';
  /**
   * When a row is due again whose handler threw. The attempt is 1 where the table counts none.
   * @default exponential(attempt)
   */
  readonly backoff?: (attempt: number, error: unknown, row: Row) => After;
  /** A text column for what the handler threw. @default none */
  readonly errorColumn?: string;
  /** The first pause when nothing is due; each that follows is twice as long. @default '250ms' */
  readonly minIdle?: Duration;
  /** The longest pause when nothing is due, at least `minIdle`: a new row may wait as long unless `wakeUp` tells of it. @default '30s' */
  readonly maxIdle?: Duration;
  /** Is given a function that tells of new rows, from a NOTIFY for one; answers how to end that. @default none */
  readonly wakeUp?: (notify: () => void) => (() => void) | undefined;
  /** How long `stop()` lets handlers run before it aborts their signals. 0 waits for nothing. @default '10s' */
  readonly drainFor?: Duration;
  /** For tests: where jitter comes from. @default Math.random */
  readonly random?: Random;
}
