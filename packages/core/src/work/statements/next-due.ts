import type { ResolvedWorkTable } from '../resolve-work-table.ts';

/**
 * When the first live row that is not due yet will be, in milliseconds from now: the next entry of the claim index, one
 * buffer or two. Null where that index begins with other columns, and every group would have to be looked at.
 *
 * Rows that are due and were not claimed are left out: somebody else holds them locked, or a condition excludes them, and
 * to wait for them would be not to wait at all.
 */
export function nextDueSql({ table, live, due, groupBy, priority }: ResolvedWorkTable): string | null {
  if (groupBy.length > 0 || priority !== null) return null;
  return `select (extract(epoch from (${due} - statement_timestamp())) * 1000)::float8 as ms
from ${table.quoted}
where (${live}) and ${due} > statement_timestamp()
order by ${due}
limit 1`;
}
