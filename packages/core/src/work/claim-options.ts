import { resolveDuration } from '../duration.ts';
import { requireKnown, requireObject, requireThat } from '../require-option.ts';
import type { ClaimOptions } from './claim.ts';
import { requireNotOwned, type ResolvedWorkTable } from './resolve-work-table.ts';
import { resolveSetValues, type SetValues } from './set-values.ts';
import { isSql, type Sql } from './sql.ts';
import type { Group } from './statements/claim-request.ts';
import { currentWhere } from './where.ts';
import { resolveIdentifier } from './work-table-name.ts';

const MOST_ROWS = 10_000;
const SHORTEST_LEASE_MS = 1_000;
const LONGEST_LEASE_MS = 86_400_000;
const LONGEST_MARGIN_MS = 10_000;
const LONGEST_STATEMENT_MS = 30_000;

export interface ResolvedClaimOptions {
  readonly limit: number;
  readonly leaseMs: number;
  readonly where: Sql | null;
  readonly group: Readonly<Record<string, unknown>> | null;
  readonly groups: readonly Group[] | null;
  readonly onClaim: SetValues;
  readonly returning: readonly string[] | null;
  readonly autoRenew: boolean;
  readonly safetyMarginMs: number;
  readonly statementTimeoutMs: number;
}

const KNOWN: readonly (keyof ClaimOptions)[] = [
  'limit',
  'lease',
  'where',
  'group',
  'onClaim',
  'returning',
  'autoRenew',
  'safetyMargin',
  'statementTimeout',
];

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION */
export function resolveClaimOptions(table: ResolvedWorkTable, options: ClaimOptions = {}): ResolvedClaimOptions {
  requireObject('the options of claim()', options);
  requireKnown('claim()', options, KNOWN);
  const { limit = 10, onClaim = {}, returning, autoRenew = false } = options;
  requireThat(
    Number.isInteger(limit) && limit >= 1 && limit <= MOST_ROWS,
    'limit',
    limit,
    `give a whole number from 1 to ${MOST_ROWS}`,
  );
  const where = currentWhere(options.where);
  requireThat(where === undefined || isSql(where), 'where', where, 'give a condition, such as sql`tenant_id = ${tenantId}`');
  requireThat(typeof autoRenew === 'boolean', 'autoRenew', autoRenew, 'give true or false');
  const leaseMs = resolveLease(options.lease ?? '1m');
  requireNotOwned(table, resolveSetValues('onClaim', onClaim));
  return {
    limit,
    leaseMs,
    where: where ?? null,
    group: resolveGroup(table, options.group),
    groups: null,
    onClaim,
    returning: returning === undefined ? null : resolveReturning(returning),
    autoRenew,
    ...resolveLimits(leaseMs, options),
  };
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION */
export function resolveLease(lease: unknown): number {
  return resolveDuration('lease', lease, { min: SHORTEST_LEASE_MS, max: LONGEST_LEASE_MS });
}

function resolveLimits(leaseMs: number, { safetyMargin, statementTimeout }: ClaimOptions): Limits {
  return {
    safetyMarginMs: resolveDuration('safetyMargin', safetyMargin ?? Math.min(leaseMs / 10, LONGEST_MARGIN_MS), {
      min: 0,
      max: leaseMs / 2,
    }),
    // Shorter than the lease: a renewal that hangs must be tried again in time.
    statementTimeoutMs: resolveDuration('statementTimeout', statementTimeout ?? Math.min(leaseMs / 3, LONGEST_STATEMENT_MS), {
      max: leaseMs / 2,
    }),
  };
}

interface Limits {
  readonly safetyMarginMs: number;
  readonly statementTimeoutMs: number;
}

function resolveReturning(returning: readonly string[]): readonly string[] {
  const valid = Array.isArray(returning) && returning.length > 0 && new Set(returning).size === returning.length;
  requireThat(valid, 'returning', returning, 'give one or more different columns, or leave it out for all');
  return returning.map((column) => resolveIdentifier('returning', column));
}

function resolveGroup(table: ResolvedWorkTable, group: ClaimOptions['group']): Readonly<Record<string, unknown>> | null {
  if (group === undefined) return null;
  requireObject('group', group);
  const names = Object.keys(group);
  const isWhole = names.length === table.groupBy.length && table.groupBy.every((column) => names.includes(column));
  requireThat(
    isWhole && names.length > 0,
    'group',
    names.join(', '),
    `give a value for each column of groupBy (${table.groupBy.join(', ')})`,
  );
  const missing = names.find((name) => group[name] === undefined);
  requireThat(missing === undefined, `group.${missing}`, undefined, 'give null for the rows that have NULL there');
  return group;
}
