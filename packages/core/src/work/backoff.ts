import type { Clock } from '../clock.ts';
import { type Duration, resolveDuration } from '../duration.ts';
import type { Random } from '../lease/pacing.ts';
import { requireKnown, requireObject, requireThat } from '../require-option.ts';
import { type RetryAfter, retryAfterMs } from './retry-after.ts';

export interface ExponentialOptions {
  /** Before the first attempt again. @default '1s' */
  readonly base?: Duration;
  /** Each delay is so many times the one before: 1 or more. @default 2 */
  readonly factor?: number;
  /** The longest delay, with its jitter; the other server's `retryAfter` may be longer. At least `base`. @default '1h' */
  readonly max?: Duration;
  /** Up to this part of the delay is added at random, from 0 to 1. @default 0.25 */
  readonly jitter?: number;
  /** When the other server wants to be asked again: never sooner than that. @default none */
  readonly retryAfter?: RetryAfter;
  /** For tests: where jitter comes from. @default Math.random */
  readonly random?: Random;
  /** For tests: what a date of `retryAfter` is measured from. @default the system's clock */
  readonly clock?: Clock;
}

const OPTIONS: readonly (keyof ExponentialOptions)[] = ['base', 'factor', 'max', 'jitter', 'retryAfter', 'random', 'clock'];

/**
 * A delay that grows with each failure, in milliseconds: whatever takes a {@link Duration} takes it.
 *
 * Jitter only ever adds, so that many rows that one outage has failed do not come back at once, and none before the time
 * that the other server has named. It is kept at `max` too, where every row ends up: the delay grows to what leaves room for it.
 *
 * @param attempt which failure it was: 1 for the first.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION
 *
 * @example
 * exponential(row.attempts, { base: '10s', max: '6h', retryAfter: response })
 */
export function exponential(attempt: number, options: ExponentialOptions = {}): number {
  requireAttempt(attempt);
  const { baseMs, factor, maxMs, jitter } = resolvePolicy(options);
  const { retryAfter, random = Math.random, clock } = options;
  // Never 0, and rounded down: the longest is not to be passed.
  const ownMs = Math.max(Math.floor(Math.min(baseMs * factor ** (attempt - 1), maxMs / (1 + jitter))), 1);
  const floorMs = retryAfterMs(retryAfter, clock === undefined ? {} : { clock }) ?? 0;
  return Math.max(ownMs, floorMs) + Math.floor(Math.min(jitter * ownMs, maxMs - ownMs) * random());
}

interface Policy {
  readonly baseMs: number;
  readonly factor: number;
  readonly maxMs: number;
  readonly jitter: number;
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION */
function resolvePolicy(options: ExponentialOptions): Policy {
  requireObject('the options of exponential()', options);
  requireKnown('exponential()', options, OPTIONS);
  const { base = '1s', factor = 2, max = '1h', jitter = 0.25 } = options;
  const baseMs = resolveDuration('base', base);
  requireThat(Number.isFinite(factor) && factor >= 1, 'factor', factor, 'give 1, for the same delay each time, or more');
  requireThat(Number.isFinite(jitter) && jitter >= 0 && jitter <= 1, 'jitter', jitter, 'give a number from 0 to 1');
  return { baseMs, factor, jitter, maxMs: resolveDuration('max', max, { min: baseMs }) };
}

/**
 * The delay that is written down for this failure, in milliseconds; the last one for all that follow.
 *
 * @param attempt which failure it was: 1 for the first.
 * @param retryAfter when the other server wants to be asked again: never sooner than that.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION
 *
 * @example
 * ladder(row.attempts, ['1m', '15m', '1h', '12h'], response)
 */
export function ladder(attempt: number, steps: readonly Duration[], retryAfter?: RetryAfter): number {
  requireAttempt(attempt);
  requireThat(Array.isArray(steps) && steps.length > 0, 'steps', steps, "give at least one delay, such as ['1m', '15m', '1h']");
  const stepsMs = steps.map((step, index) => resolveDuration(`steps[${index}]`, step));
  const ownMs = stepsMs[Math.min(attempt, stepsMs.length) - 1] ?? 0;
  return Math.max(ownMs, retryAfterMs(retryAfter) ?? 0);
}

function requireAttempt(attempt: unknown): void {
  const valid = typeof attempt === 'number' && Number.isInteger(attempt) && attempt >= 1;
  requireThat(valid, 'attempt', attempt, 'give a whole number, 1 for the first failure; Number(…) makes one of a bigint column');
}
