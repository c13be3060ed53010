import { quoteIdentifier } from '../../postgres/identifier.ts';
import { idAliases, idColumns } from '../names.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { join, raw, type Sql, sql, toSql } from '../sql.ts';
import type { ClaimRequest } from './claim.ts';

/** The rows that a claim takes, locked, with their ids, their place in the order, and their ids as text. */
export function candidates(table: ResolvedWorkTable, request: ClaimRequest): Sql {
  const due = raw(table.due);
  return sql`
  select ${raw(selected(table))}, 0 as leasehold_rank
  from ${raw(table.table.quoted)}
  where ${join(conditions(table, request), ' and ')}
  order by ${due}, ${raw(idColumns(table).join(', '))}
  limit ${request.limit}::bigint
  for no key update skip locked
`;
}

function selected(table: ResolvedWorkTable): string {
  const ids = idColumns(table);
  const named = ids.map((column, index) => `${column} as ${idAliases(table)[index]}`);
  const texts = ids.map((column) => `${column}::text`);
  // Drivers take much longer to read an array than a text.
  const ref = texts.length === 1 ? texts[0] : `array[${texts.join(', ')}]`;
  return [...named, `${table.due} as leasehold_due`, `${ref} as leasehold_ref`].join(', ');
}

function conditions(table: ResolvedWorkTable, { where }: ClaimRequest): Sql[] {
  const list = [sql`(${raw(table.live)})`, sql`${raw(table.due)} <= statement_timestamp()`];
  if (table.attempts !== null) list.push(raw(`${quoteIdentifier(table.attempts.column)} < ${table.attempts.max}`));
  if (table.deadline !== null) {
    const deadline = quoteIdentifier(table.deadline);
    list.push(raw(`(${deadline} is null or ${deadline} > statement_timestamp())`));
  }
  if (where !== null) list.push(sql`(${toSql(where)})`);
  return list;
}
