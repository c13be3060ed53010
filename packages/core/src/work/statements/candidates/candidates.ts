import { quoteIdentifier } from '../../../postgres/identifier.ts';
import { idColumns } from '../../names.ts';
import type { ResolvedWorkTable } from '../../resolve-work-table.ts';
import { raw, type Sql, sql, toSql } from '../../sql.ts';
import type { TableDescription } from '../../table-description.ts';
import type { ClaimRequest } from '../claim-request.ts';
import { isNotAmong } from '../given.ts';
import { dueByGroup, groupCtes } from './by-group.ts';
import { scanByPriority } from './by-priority.ts';
import { placeOfGroup } from './place.ts';
import { isDue, namedIds, type Scan } from './scan.ts';

/**
 * The CTEs that end with `leasehold_next`: the rows that a claim takes, locked, with their ids, their place in the order, and their ids as
 * text. Of one group, or of a table without groups, it is one scan, or one for each priority; else there is also `leasehold_at`,
 * the number of the group.
 */
export function candidates(description: TableDescription, request: ClaimRequest, locks = true): Sql {
  const { table } = description;
  const scan: Scan = { selected: selected(table), wanted: wanted(description, request), limit: request.limit, locks };
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

/** What is told of each candidate. */
export function selected(table: ResolvedWorkTable): string {
  return [...namedIds(table), `${table.due} as leasehold_due`, `${refSql(idColumns(table))} as leasehold_ref`].join(', ');
}

/** The id as text. Drivers take much longer to read an array than a text. */
export function refSql(columns: readonly string[]): string {
  const texts = columns.map((column) => `${column}::text`);
  return texts.length === 1 ? (texts[0] ?? '') : `array[${texts.join(', ')}]`;
}

/** What a row has to be so that a claim may take it. */
export function wanted(description: TableDescription, { where, without }: ClaimRequest): Sql[] {
  const { table } = description;
  const list = [isDue(table), ...isNotAmong(description, without)];
  if (table.attempts !== null) list.push(raw(`${quoteIdentifier(table.attempts.column)} < ${table.attempts.max}`));
  if (table.deadline !== null) {
    const deadline = quoteIdentifier(table.deadline);
    list.push(raw(`(${deadline} is null or ${deadline} > statement_timestamp())`));
  }
  if (where !== null) list.push(sql`(${toSql(where)})`);
  return list;
}
