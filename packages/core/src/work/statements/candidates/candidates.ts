import { quoteIdentifier } from '../../../postgres/identifier.ts';
import { idColumns } from '../../names.ts';
import type { ResolvedWorkTable } from '../../resolve-work-table.ts';
import { raw, type Sql, sql, toSql } from '../../sql.ts';
import type { TableDescription } from '../../table-description.ts';
import type { ClaimRequest } from '../claim-request.ts';
import { dueByGroup, groupCtes } from './by-group.ts';
import { scanByPriority } from './by-priority.ts';
import { placeOfGroup } from './place.ts';
import { isDue, namedIds, type Scan } from './scan.ts';

/**
 * The CTEs that end with `leasehold_next`: the rows that a claim takes, locked, with their ids, their place in the order, and their ids as
 * text. Of one group, or of a table without groups, it is one scan, or one for each priority; else there is also `leasehold_at`,
 * the number of the group.
 */
export function candidates(description: TableDescription, request: ClaimRequest): Sql {
  const { table } = description;
  const scan: Scan = { selected: selected(table), wanted: wanted(table, request), limit: request.limit, locks: true };
  if (servesManyGroups(table, request)) {
    return sql`${groupCtes(description, request)},
${dueByGroup(description, scan)}`;
  }
  return sql`leasehold_next as materialized (
  ${scanByPriority(description, placeOf(description, request), scan)}
)`;
}

export function servesManyGroups(table: ResolvedWorkTable, { group, groups }: ClaimRequest): boolean {
  return table.groupBy.length > 0 && (group === null || groups !== null);
}

/** All groups that there are, found by walking from one to the next. */
export function walksGroups(table: ResolvedWorkTable, request: ClaimRequest): boolean {
  return servesManyGroups(table, request) && request.groups === null;
}

/** The leading columns of the claim index, held to one group. */
export function placeOf(description: TableDescription, { group }: ClaimRequest): Sql[] {
  return group === null ? [] : placeOfGroup(description, group);
}

function selected(table: ResolvedWorkTable): string {
  const ref = `array[${idColumns(table)
    .map((column) => `${column}::text`)
    .join(', ')}] as leasehold_ref`;
  return [...namedIds(table), `${table.due} as leasehold_due`, ref].join(', ');
}

function wanted(table: ResolvedWorkTable, { where }: ClaimRequest): Sql[] {
  const list = [isDue(table)];
  if (table.attempts !== null) list.push(raw(`${quoteIdentifier(table.attempts.column)} < ${table.attempts.max}`));
  if (table.deadline !== null) {
    const deadline = quoteIdentifier(table.deadline);
    list.push(raw(`(${deadline} is null or ${deadline} > statement_timestamp())`));
  }
  if (where !== null) list.push(sql`(${toSql(where)})`);
  return list;
}
