import { type Duration, resolveDuration } from '../duration.ts';
import { LeaseholdError } from '../errors.ts';
import { requireFunction, requireKnown, requireObject, requireThat } from '../require-option.ts';

/** How long a lease lasts and how it is kept. Given for all roles, and overridden for one. */
export interface TimingOptions {
  /**
   * How long a lease lives in the store after each renewal: the longest time a role can stand vacant after a crash.
   *
   * @default '15s'
   */
  readonly leaseDuration?: Duration;
  /**
   * Time between two renewals, and between two tries of a candidate.
   *
   * @default a third of `leaseDuration`: '5s'
   */
  readonly renewInterval?: Duration;
  /**
   * How long before the lease runs out in the store the holder stops believing in it.
   *
   * *Gotcha:* it covers the difference in rate between two clocks and the time between a look at `isHeld` and the
   * action taken on it. A longer action belongs behind a fence.
   *
   * @default two fifteenths of `leaseDuration`: '2s'
   */
  readonly safetyMargin?: Duration;
}

export interface RoleOptions extends TimingOptions {
  /** The longest single term. After it the instance steps down and stands aside for a while, so that no hung work holds a role for ever. @default none */
  readonly maxHold?: Duration;
  /**
   * Asked at each regular heartbeat, beside it and never in its way. An instance whose check answers false, rejects or does not
   * answer, `healthCheckFailures` times in a row, steps down and does not compete until the check passes again.
   *
   * @default none
   */
  readonly healthCheck?: () => boolean | Promise<boolean>;
  /** Failures in a row that end a term. @default 3 */
  readonly healthCheckFailures?: number;
}

/** Milliseconds throughout. */
export interface Timing {
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly marginMs: number;
  /** How long after a heartbeat was *sent* its answer may be believed: `leaseMs - marginMs`. */
  readonly windowMs: number;
  /** What is left of the window when a renewal is due: the time for a failure and another try. */
  readonly slackMs: number;
}

export interface ResolvedRoleOptions {
  readonly timing: Timing;
  readonly maxHoldMs: number;
  readonly healthCheck: (() => boolean | Promise<boolean>) | null;
  readonly healthCheckFailures: number;
}

const TIMING_OPTIONS = ['leaseDuration', 'renewInterval', 'safetyMargin'] as const satisfies (keyof TimingOptions)[];
export const ROLE_OPTIONS: readonly (keyof RoleOptions)[] = [...TIMING_OPTIONS, 'maxHold', 'healthCheck', 'healthCheckFailures'];

const DEFAULT_LEASE_MS = 15_000;
/** Shorter leases could not survive one slow garbage collection on both ends. */
const SHORTEST_LEASE_MS = 500;
/** What any store needs for one answer. With less, a role would be lost again and again, and its renewals with it time out for all. */
const SHORTEST_SLACK_MS = 50;
const LONGEST_LEASE_MS = 3_600_000;

/**
 * Checks the timing of one role, `base` giving what it does not say.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_TIMING
 */
export function resolveTiming(options: TimingOptions, base: TimingOptions = {}): Timing {
  const given = { ...base, ...definedOnly(options) };
  const leaseMs = resolveDuration('leaseDuration', given.leaseDuration ?? DEFAULT_LEASE_MS, {
    min: SHORTEST_LEASE_MS,
    max: LONGEST_LEASE_MS,
  });
  const renewMs = resolveDuration('renewInterval', given.renewInterval ?? Math.round(leaseMs / 3));
  const marginMs = resolveDuration('safetyMargin', given.safetyMargin ?? Math.round((leaseMs * 2) / 15));
  if (leaseMs < renewMs + marginMs + SHORTEST_SLACK_MS) {
    const option = TIMING_OPTIONS.find((name) => options[name] !== undefined) ?? 'leaseDuration';
    throw invalidTiming(option, { leaseMs, renewMs, marginMs });
  }
  return { leaseMs, renewMs, marginMs, windowMs: leaseMs - marginMs, slackMs: leaseMs - marginMs - renewMs };
}

function invalidTiming(
  option: string,
  { leaseMs, renewMs, marginMs }: Pick<Timing, 'leaseMs' | 'renewMs' | 'marginMs'>,
): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_INVALID_TIMING',
    `leaseDuration is ${leaseMs} ms, which is not more than renewInterval (${renewMs} ms) + safetyMargin (${marginMs} ms) by ` +
      `${SHORTEST_SLACK_MS} ms at least: the role would be lost before its renewal is answered. Give ${SHORTEST_SLACK_MS} ms ` +
      `over ${renewMs + marginMs} ms or more; three times the renewInterval is usual.`,
    { option },
  );
}

function definedOnly(options: TimingOptions): TimingOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/**
 * @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_TIMING, LEASEHOLD_INVALID_OPTION
 */
export function resolveRoleOptions(where: string, options: RoleOptions, base: TimingOptions): ResolvedRoleOptions {
  requireObject('options', options);
  requireKnown(where, options, ROLE_OPTIONS);
  const { leaseDuration, renewInterval, safetyMargin, maxHold, healthCheck, healthCheckFailures = 3 } = options;
  const timing = resolveTiming({ leaseDuration, renewInterval, safetyMargin } as TimingOptions, base);
  if (healthCheck !== undefined) requireFunction('healthCheck', healthCheck);
  requireThat(
    Number.isInteger(healthCheckFailures) && healthCheckFailures >= 1,
    'healthCheckFailures',
    healthCheckFailures,
    'give an integer of at least 1',
  );
  return {
    timing,
    maxHoldMs: maxHold === undefined ? Number.POSITIVE_INFINITY : resolveDuration('maxHold', maxHold, { min: timing.renewMs }),
    healthCheck: healthCheck ?? null,
    healthCheckFailures,
  };
}
