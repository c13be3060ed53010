import { type Duration, resolveDuration } from '../../duration.ts';
import { requireKnown, requireObject, requireThat } from '../../require-option.ts';
import { quoteIdentifier } from '../../postgres/identifier.ts';
import type { SqlClient } from '../client.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { runStatement, type Statement } from '../run-statement.ts';

export interface CountsOptions {
  /** No more live rows are looked at than this, 1 to 10,000,000. @default 100,000 */
  readonly limit?: number;
  /** Counts for each value of `groupBy` as well. @default false */
  readonly byGroup?: boolean;
  /** The statement is given up after this. @default '30s' */
  readonly statementTimeout?: Duration;
}

export interface WorkCounts {
  /** A claim would find them now; those whose lease ran out are among them. */
  readonly due: number;
  /** A claim has them, and its lease runs. */
  readonly leased: number;
  /** Due later: a retry, or a time that the application has set. */
  readonly waiting: number;
  /** Leased once, and neither settled nor prolonged before the lease ended: their workers died, or are too slow. */
  readonly expired: number;
  /** For how long the row that is due longest has been so, in milliseconds; 0 when none is. */
  readonly oldestDueMs: number;
}

export interface TableCounts extends WorkCounts {
  /** More live rows are there than `limit`: each number is at least so much. */
  readonly isCapped: boolean;
  /** With `byGroup`: the columns of `groupBy`, as text, and the counts of the live rows that have these values. */
  readonly groups: readonly (WorkCounts & { readonly group: Readonly<Record<string, string | null>> })[];
}

const MOST_ROWS = 10_000_000;

/**
 * Counts live rows by what is to become of them, by one statement.
 *
 * *Gotcha:* it reads the claim index and the rows behind it, up to `limit`: ask every few seconds, not with every claim.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION; LEASEHOLD_STORE_TIMEOUT
 */
export async function counts(table: ResolvedWorkTable, client: SqlClient, options: CountsOptions = {}): Promise<TableCounts> {
  requireObject('the options of counts()', options);
  requireKnown('counts()', options, ['limit', 'byGroup', 'statementTimeout']);
  const { limit = 100_000, byGroup = false } = options;
  const valid = Number.isInteger(limit) && limit >= 1 && limit <= MOST_ROWS;
  requireThat(valid, 'limit', limit, `give a whole number from 1 to ${MOST_ROWS}`);
  const mayGroup = byGroup === false || (byGroup === true && table.groupBy.length > 0);
  requireThat(mayGroup, 'byGroup', byGroup, 'give true, and groupBy to workTable(), or leave it out');
  const timeoutMs = resolveDuration('statementTimeout', options.statementTimeout ?? '30s');
  const limits = { clock: table.clock, timeoutMs, what: 'count' };
  const rows = await runStatement<CountRow>(client, countStatement(table, limit, byGroup), limits);
  const groups = rows.flatMap(({ group, ...row }) => (group === null ? [] : [{ group: groupOf(table, group), ...numbers(row) }]));
  const total = rows.find(({ group }) => group === null);
  return { ...numbers(total), isCapped: total?.is_capped ?? false, groups };
}

interface CountRow {
  readonly group: readonly (string | null)[] | null;
  readonly is_capped: boolean;
  readonly due: number;
  readonly leased: number;
  readonly waiting: number;
  readonly expired: number;
  readonly oldest_due_ms: number;
}

function numbers(row: Omit<CountRow, 'group'> | undefined): WorkCounts {
  const { due = 0, leased = 0, waiting = 0, expired = 0, oldest_due_ms: oldestDueMs = 0 } = row ?? {};
  return { due, leased, waiting, expired, oldestDueMs };
}

function groupOf(table: ResolvedWorkTable, values: readonly (string | null)[]): Record<string, string | null> {
  return Object.fromEntries(table.groupBy.map((column, index) => [column, values[index] ?? null]));
}

/**
 * Stops reading at the limit, one row past it, which tells that there are more. Where nothing stands before the due time in
 * the index, it reads in that order: what is due is counted before what lies behind.
 */
function countStatement(table: ResolvedWorkTable, limit: number, byGroup: boolean): Statement {
  const isOrdered = table.groupBy.length === 0 && table.priority === null;
  const groups = byGroup
    ? `array[${table.groupBy.map((column) => `${quoteIdentifier(column)}::text`).join(', ')}]`
    : `null::text[]`;
  const text = `select ${byGroup ? 'leasehold_group' : 'null::text[]'} as group,
  count(*) > $1::bigint as is_capped,
  (count(*) filter (where due <= now))::int as due,
  (count(*) filter (where due > now and is_leased))::int as leased,
  (count(*) filter (where due > now and not is_leased))::int as waiting,
  (count(*) filter (where due <= now and is_leased))::int as expired,
  coalesce(greatest(extract(epoch from max(now) - min(due) filter (where due <= now)) * 1000, 0), 0)::float8 as oldest_due_ms
from (
  select ${groups} as leasehold_group, ${table.due} as due, statement_timestamp() as now,
         ${quoteIdentifier(table.lockId)} is not null and ${quoteIdentifier(table.lockedUntil)} is not null as is_leased
  from ${table.table.quoted} where (${table.live})
  ${isOrdered ? `order by ${table.due} ` : ''}limit $1::bigint + 1
) live
group by grouping sets (()${byGroup ? ', (leasehold_group)' : ''})`;
  return { text, values: [limit] };
}
