import { quoteIdentifier } from '../../postgres/identifier.ts';
import { isAmong, sameId } from '../names.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { empty, join, raw, type Sql, sql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import { assignments } from './assignments.ts';
import { scanByPriority } from './candidates/by-priority.ts';
import { placeOf, servesManyGroups } from './candidates/candidates.ts';
import { atGroup } from './candidates/place.ts';
import { namedIds, type Scan } from './candidates/scan.ts';
import type { ClaimRequest } from './claim-request.ts';
import { isNotAmong } from './given.ts';
import { isWaitedFor } from './waited-for.ts';

/**
 * Puts rows away that have no attempt left or are past their deadline: CTEs behind those of the candidates, or nothing.
 *
 * They are looked for as far as the candidates reached, and no further: the scan for these has passed by them. What was not reached
 * costs nothing here, and what was cannot stay at the head of the index, where each claim would read it again.
 */
export function burySpent(description: TableDescription, request: ClaimRequest): Sql {
  const { table } = description;
  if (table.dead === null || spentSql(table) === null) return empty;
  return sql`${spentCtes(description, request)},
leasehold_buried_rows as (
  ${buryFound(description, request)}
  returning 1
)`;
}

/** Ends with `leasehold_spent`: the rows to be put away, with the reason. Nothing, where there can be none. */
export function spentCtes(description: TableDescription, request: ClaimRequest, locks = true): Sql {
  const { table } = description;
  const spent = spentSql(table);
  if (table.dead === null || spent === null) return empty;
  return sql`,
${reachSql(servesManyGroups(table, request))},
leasehold_spent as materialized (
  ${findSpent(description, request, { spent, locks })}
)`;
}

/** Puts away what is in `leasehold_spent`. */
export function buryFound(description: TableDescription, request: ClaimRequest): Sql {
  const { table } = description;
  const reason = table.dead?.reason ?? null;
  const written = join([
    sql`${raw(quoteIdentifier(table.lockId))} = ${request.token}::uuid`,
    sql`${raw(quoteIdentifier(table.lockedUntil))} = null`,
    ...assignments(description, table.dead?.set ?? {}),
    ...(reason === null ? [] : [sql`${raw(quoteIdentifier(reason))} = leasehold_spent.leasehold_reason`]),
  ]);
  return sql`update ${raw(table.table.quoted)} set ${written}
  from leasehold_spent
  where ${raw(isAmong(table, 'leasehold_spent'))} and ${raw(sameId(table, 'leasehold_spent'))} and ${isWaitedFor(request)}`;
}

/** The column that tells how many were put away; none where there can be none. */
export function buriedCount(table: ResolvedWorkTable): readonly string[] {
  if (table.dead === null || spentSql(table) === null) return [];
  return ['(select count(*)::int from leasehold_buried_rows) as leasehold_buried'];
}

/** How far the candidates reached in each group: the lowest priority that gave some, until when, and how many there were in all. */
function reachSql(hasGroups: boolean): Sql {
  const group = raw(hasGroups ? 'leasehold_next.leasehold_at' : '0');
  return sql`leasehold_total as materialized (select count(*) as total from leasehold_next),
leasehold_reach as materialized (
  select distinct on (1) ${group} as leasehold_at, leasehold_rank, leasehold_due, count(*) over (partition by ${group}) as found
  from leasehold_next order by 1, 2 desc, 3 desc
)`;
}

function findSpent(
  description: TableDescription,
  request: ClaimRequest,
  { spent, locks }: { spent: string; locks: boolean },
): Sql {
  const { table } = description;
  const many = servesManyGroups(table, request);
  const scan: Scan = {
    selected: [...namedIds(table), `${reasonSql(table)} as leasehold_reason`].join(', '),
    wanted: [
      raw(`(${spent})`),
      sql`${raw(table.due)} <= ${untilSql(table, request, many)}`,
      ...isNotAmong(description, request.without),
    ],
    limit: request.limit,
    locks,
  };
  const found = many
    ? atGroup(description, 'leasehold_groups', (place) => scanByPriority(description, place, scan))
    : scanByPriority(description, placeOf(description, request), scan);
  const source = many
    ? 'leasehold_groups left join leasehold_reach reach on reach.leasehold_at = leasehold_groups.leasehold_at'
    : '(select 1) one left join leasehold_reach reach on true';
  return sql`select found.*
  from ${raw(source)}
  cross join lateral (${found}) found
  limit ${request.limit}::bigint`;
}

/**
 * Until when a scan of the candidates reached; NULL where there was none. With fewer rows than wanted, all of them ended by
 * themselves; so did those of a group that gave less than its quota, unless it was the last, and those of higher priorities.
 */
function untilSql(table: ResolvedWorkTable, { limit }: ClaimRequest, many: boolean): Sql {
  const priority = table.priority === null ? '0' : 'leasehold_priority.leasehold_rank';
  const groups = raw(`
      when leasehold_groups.leasehold_at > (select max(leasehold_at) from leasehold_reach) then null
      when leasehold_groups.leasehold_at < (select max(leasehold_at) from leasehold_reach)
        and coalesce(reach.found, 0) < (select quota from leasehold_quota) then statement_timestamp()`);
  return sql`case when (select total from leasehold_total) < ${limit}::bigint then statement_timestamp()${many ? groups : empty}
      when ${raw(priority)} < reach.leasehold_rank then statement_timestamp()
      when ${raw(priority)} = reach.leasehold_rank then reach.leasehold_due end`;
}

/** When a row has no attempt left, or is past its deadline; null where no row can be. */
export function spentSql(table: ResolvedWorkTable): string | null {
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
