import { quoteIdentifier } from '../../postgres/identifier.ts';
import { idAliases, idColumns, isAmong, qualified, sameId } from '../names.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import type { SetValues } from '../set-values.ts';
import { empty, join, raw, type Sql, sql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import { assignments } from './assignments.ts';
import { candidates } from './candidates.ts';

export interface ClaimRequest {
  readonly token: string;
  readonly limit: number;
  readonly leaseMs: number;
  readonly where: Sql | null;
  readonly group: Readonly<Record<string, unknown>> | null;
  readonly onClaim: SetValues;
  readonly columns: readonly string[];
  /** After how many milliseconds nobody waits for the answer; null within a transaction of the caller's. */
  readonly givenUpAfterMs: number | null;
}

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
  return sql`
with leasehold_next as materialized (
  select * from (${candidates(table, request)}) leasehold_candidates where ${isWaitedFor(request)}
),
leasehold_stamped as (
  update ${name} set ${stamp}
  where ${raw(isAmong(table, 'leasehold_next'))}
  returning ${raw([...own, ...returned].join(', '))}
)${buryExhausted(description, request)}
select ${raw([...shown, 'leasehold_next.leasehold_ref', `${buriedCount(table)} as leasehold_buried`].join(', '))}
from (select 1) one
left join (leasehold_stamped join leasehold_next on ${raw(joined)}) on true
order by leasehold_next.leasehold_rank, leasehold_next.leasehold_due, ${raw(aliases.map((alias) => `leasehold_next.${alias}`).join(', '))}`;
}

/** `now()` is when the transaction began, of this statement alone: before it came to wait. Asked once, and not for each row. */
function isWaitedFor({ givenUpAfterMs }: ClaimRequest): Sql {
  if (givenUpAfterMs === null) return sql`true`;
  return sql`(select clock_timestamp() < now() + ${givenUpAfterMs}::float8 * interval '1 millisecond')`;
}

function qualifiedQuoted(table: ResolvedWorkTable, column: string): string {
  return `${quoteIdentifier(table.table.name)}.${column}`;
}

function countAttempt(table: ResolvedWorkTable): Sql[] {
  if (table.attempts === null) return [];
  const column = raw(quoteIdentifier(table.attempts.column));
  return [sql`${column} = ${column} + 1`];
}

function buriedCount(table: ResolvedWorkTable): string {
  return table.attempts === null && table.deadline === null ? '0' : '(select count(*)::int from leasehold_buried_rows)';
}

/** As far as the candidates reached: where fewer than wanted were due, all that is due was looked at. */
function buryExhausted(description: TableDescription, request: ClaimRequest): Sql {
  const { table } = description;
  const { token, limit } = request;
  const spent = exhausted(table);
  if (table.dead === null || spent === null) return empty;
  const ids = idColumns(table).map((column, index) => `${column} as ${idAliases(table)[index]}`);
  const due = raw(table.due);
  const written = join([
    sql`${raw(quoteIdentifier(table.lockId))} = ${token}::uuid`,
    sql`${raw(quoteIdentifier(table.lockedUntil))} = null`,
    ...assignments(description, table.dead.set),
    ...(table.dead.reason === null ? [] : [sql`${raw(quoteIdentifier(table.dead.reason))} = leasehold_spent.leasehold_reason`]),
  ]);
  return sql`,
leasehold_spent as materialized (
  select ${raw(ids.join(', '))}, ${raw(reasonSql(table))} as leasehold_reason
  from ${raw(table.table.quoted)}
  where (${raw(table.live)}) and ${due} <= coalesce(
      (select max(leasehold_next.leasehold_due) from leasehold_next having count(*) >= ${limit}::bigint), statement_timestamp()
    )
    and (${raw(spent)}) and ${isWaitedFor(request)}
  order by ${due}, ${raw(idColumns(table).join(', '))}
  limit ${limit}::bigint
  for no key update skip locked
),
leasehold_buried_rows as (
  update ${raw(table.table.quoted)} set ${written}
  from leasehold_spent
  where ${raw(isAmong(table, 'leasehold_spent'))} and ${raw(sameId(table, 'leasehold_spent'))}
  returning 1
)`;
}

function exhausted(table: ResolvedWorkTable): string | null {
  const conditions = [];
  if (table.attempts !== null) conditions.push(`${quoteIdentifier(table.attempts.column)} >= ${table.attempts.max}`);
  if (table.deadline !== null) conditions.push(`${quoteIdentifier(table.deadline)} <= statement_timestamp()`);
  return conditions.length === 0 ? null : conditions.join(' or ');
}

/** For people: why a row was put away. A token still on it tells that its last worker neither finished nor failed. */
function reasonSql(table: ResolvedWorkTable): string {
  const past = table.deadline === null ? 'false' : `${quoteIdentifier(table.deadline)} <= statement_timestamp()`;
  return `case when ${past} then 'deadline passed'
              when ${quoteIdentifier(table.lockId)} is not null then 'lease expired at the last attempt'
              else 'attempts used up' end`;
}
