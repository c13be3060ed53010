import { resolveDuration } from '../../duration.ts';
import type { Random } from '../../lease/pacing.ts';
import { requireFunction, requireKnown, requireObject, requireThat } from '../../require-option.ts';
import { exponential } from '../backoff.ts';
import type { ClaimOptions } from '../claim.ts';
import type { HeldRoles } from '../held-roles.ts';
import { isSql } from '../sql.ts';
import { resolveIdentifier } from '../work-table-name.ts';
import type { WorkOptions } from './work-options.ts';

const MOST_HANDLERS = 1_000;
const MOST_PREFETCH = 10_000;
const PREFETCH_PER_HANDLER = 10;
const LONGEST_MARGIN_MS = 10_000;

export interface ResolvedWorkOptions<Row extends object> {
  readonly handler: WorkOptions<Row>['handler'];
  readonly concurrency: number;
  readonly prefetch: number;
  readonly leaseMs: number;
  /** How long a handler may take to heed its signal. */
  readonly graceMs: number;
  /** Infinity for none. */
  readonly timeoutMs: number;
  readonly where: WorkOptions<Row>['where'];
  /** Where ownership is asked again right before the handler. */
  readonly owns: HeldRoles['owns'] | null;
  readonly claim: ClaimOptions;
  readonly backoff: NonNullable<WorkOptions<Row>['backoff']>;
  readonly errorColumn: string | null;
  readonly minIdleMs: number;
  readonly maxIdleMs: number;
  readonly wakeUp: WorkOptions<Row>['wakeUp'];
  readonly drainMs: number;
  readonly random: Random;
}

const PASSED_ON = ['group', 'onClaim', 'returning', 'statementTimeout'] as const;
const KNOWN: readonly (keyof WorkOptions<object>)[] = [
  'handler',
  'concurrency',
  'prefetch',
  'lease',
  'where',
  ...PASSED_ON,
  'safetyMargin',
  'timeout',
  'backoff',
  'errorColumn',
  'minIdle',
  'maxIdle',
  'wakeUp',
  'drainFor',
  'random',
];

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION */
export function resolveWorkOptions<Row extends object>(options: WorkOptions<Row>): ResolvedWorkOptions<Row> {
  requireObject('the options of work()', options);
  requireKnown('work()', options, KNOWN);
  const { handler, where, wakeUp, concurrency = 10, errorColumn, backoff = exponentialOf, random = Math.random } = options;
  requireFunction('handler', handler);
  requireFunction('backoff', backoff);
  requireFunction('random', random);
  if (wakeUp !== undefined) requireFunction('wakeUp', wakeUp);
  requireWhole('concurrency', concurrency, { min: 1, max: MOST_HANDLERS });
  const prefetch = options.prefetch ?? Math.min(concurrency * PREFETCH_PER_HANDLER, MOST_PREFETCH);
  requireWhole('prefetch', prefetch, { min: 0, max: MOST_PREFETCH });
  return {
    handler,
    concurrency,
    prefetch,
    where,
    wakeUp,
    backoff,
    random,
    ...resolveTimes(options),
    owns: resolveWhere(options),
    errorColumn: errorColumn === undefined ? null : resolveIdentifier('errorColumn', errorColumn),
  };
}

const exponentialOf = (attempt: number): number => exponential(attempt);

function requireWhole(option: string, value: unknown, { min, max }: { readonly min: number; readonly max: number }): void {
  const valid = typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
  requireThat(valid, option, value, `give a whole number from ${min} to ${max}`);
}

type Times = Pick<
  ResolvedWorkOptions<object>,
  'leaseMs' | 'graceMs' | 'timeoutMs' | 'claim' | 'minIdleMs' | 'maxIdleMs' | 'drainMs'
>;

function resolveTimes(options: WorkOptions<never>): Times {
  const { timeout, minIdle = '250ms', maxIdle = '30s', drainFor = '10s' } = options;
  const leaseMs = resolveDuration('lease', options.lease ?? '1m', { min: 1_000, max: 86_400_000 });
  const graceMs = resolveDuration('safetyMargin', options.safetyMargin ?? Math.min(leaseMs / 10, LONGEST_MARGIN_MS), {
    min: 0,
    max: leaseMs / 2,
  });
  const minIdleMs = resolveDuration('minIdle', minIdle);
  const passedOn = Object.fromEntries(PASSED_ON.map((name) => [name, options[name]]).filter(([, value]) => value !== undefined));
  return {
    leaseMs,
    graceMs,
    timeoutMs: timeout === 'none' ? Number.POSITIVE_INFINITY : resolveDuration('timeout', timeout ?? leaseMs - graceMs),
    claim: { ...passedOn, lease: leaseMs, safetyMargin: graceMs, autoRenew: true },
    minIdleMs,
    maxIdleMs: resolveDuration('maxIdle', maxIdle, { min: minIdleMs }),
    drainMs: resolveDuration('drainFor', drainFor, { min: 0 }),
  };
}

function resolveWhere({ where, returning }: WorkOptions<never>): HeldRoles['owns'] | null {
  const valid = where === undefined || typeof where === 'function' || isSql(where);
  requireThat(valid, 'where', where, 'give a condition, such as sql`tenant_id = ${tenantId}`, or a function that answers one');
  if (typeof where !== 'function' || !('owns' in where)) return null;
  const roles = where as HeldRoles;
  const isReturned = returning === undefined || returning.includes(roles.column);
  requireThat(
    isReturned,
    'returning',
    returning,
    `add ${roles.column}: whose row it is, is asked again right before the handler`,
  );
  return (row) => roles.owns(row);
}
