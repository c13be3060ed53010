import { quoteIdentifier } from '../../postgres/identifier.ts';
import { idAliases, idColumns, isAmong, qualified } from '../names.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { join, raw, type Sql, sql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import { assignments } from './assignments.ts';
import { buriedCount, burySpent } from './bury-spent.ts';
import { roundColumns } from './candidates/by-group.ts';
import { candidates, walksGroups } from './candidates/candidates.ts';
import type { ClaimRequest } from './claim-request.ts';
import { isWaitedFor } from './waited-for.ts';

/**
 * The claim: candidates in due order, stamped and returned in that order, by one statement.
 *
 * Why this shape:
 * - The candidates are locked with `skip locked`: two workers pass each other by. `for no key update` is what the stamp needs
 *   and no more: `for update` would pass by every row that an insert of a referring row is looking at.
 * - A row that another claim stamped since this statement's snapshot is looked at again when it is locked, by its newest
 *   version: it is no longer due then, so nobody gets a row twice.
 * - The due order is compared with `statement_timestamp()`, a condition for the index. `clock_timestamp()` is volatile, and every
 *   row would be looked at (measured on PostgreSQL 17: 784 buffers in place of 7). The stamp is of `clock_timestamp()`: time that
 *   went by in this transaction would shorten the lease.
 * - Rows without an attempt left, or past their deadline, are put away by the same statement: no other job is needed that
 *   could be forgotten, and a worker that died at the last attempt leaves nothing behind. They are looked for only as far as the
 *   candidates reached, since the scan was there anyway.
 * - A statement that waited behind a lock of the whole table, as a migration takes it, goes on waiting in the server after it was
 *   given up here. It claims nothing when its turn comes: a row would be leased to nobody, and an attempt be used up, for each
 *   time that it was tried.
 */
export function claimSql(description: TableDescription, request: ClaimRequest): Sql {
  const { table } = description;
  return leaseSql(description, request, {
    next: candidates(description, request),
    buried: burySpent(description, request),
    told: [...buriedCount(table), ...(walksGroups(table, request) ? roundColumns(description, request) : [])],
  });
}

interface LeaseParts {
  /** CTEs that end with `leasehold_next`. */
  readonly next: Sql;
  readonly buried: Sql;
  /** Columns beside those of the rows, told even if there is none. */
  readonly told: readonly string[];
}

/** Stamps and returns what is in `leasehold_next`. */
export function leaseSql(description: TableDescription, request: ClaimRequest, { next, buried, told }: LeaseParts): Sql {
  const { table } = description;
  const { name, aliases } = { name: raw(table.table.quoted), aliases: idAliases(table) };
  const stamp = join([
    sql`${raw(quoteIdentifier(table.lockId))} = ${request.token}::uuid`,
    sql`${raw(quoteIdentifier(table.lockedUntil))} = clock_timestamp() + ${request.leaseMs}::float8 * interval '1 millisecond'`,
    ...countAttempt(table),
    ...assignments(description, request.onClaim),
  ]);
  const own = idColumns(table).map((column, index) => `${qualifiedQuoted(table, column)} as ${aliases[index]}`);
  const returned = request.columns.map((column) => `${qualified(table, column)} as ${quoteIdentifier(column)}`);
  const shown = request.columns.map((column) => `leasehold_stamped.${quoteIdentifier(column)}`);
  const joined = aliases.map((alias) => `leasehold_stamped.${alias} = leasehold_next.${alias}`).join(' and ');
  const claimed = raw(`leasehold_stamped join leasehold_next on ${joined}`);
  return sql`
with ${next},
leasehold_stamped as (
  update ${name} set ${stamp}
  where ${raw(isAmong(table, 'leasehold_next'))} and ${isWaitedFor(request)}
  returning ${raw([...own, ...returned].join(', '))}
)${buried}
select ${raw([...shown, 'leasehold_next.leasehold_ref', ...told].join(', '))}
from ${told.length === 0 ? claimed : sql`(select 1) one left join (${claimed}) on true`}
order by leasehold_next.leasehold_rank, leasehold_next.leasehold_due, ${raw(aliases.map((alias) => `leasehold_next.${alias}`).join(', '))}`;
}

function qualifiedQuoted(table: ResolvedWorkTable, column: string): string {
  return `${quoteIdentifier(table.table.name)}.${column}`;
}

function countAttempt(table: ResolvedWorkTable): Sql[] {
  if (table.attempts === null) return [];
  const column = raw(quoteIdentifier(table.attempts.column));
  return [sql`${column} = ${column} + 1`];
}
