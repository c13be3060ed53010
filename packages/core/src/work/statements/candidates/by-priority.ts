import { quoteIdentifier } from '../../../postgres/identifier.ts';
import { join, raw, type Sql, sql } from '../../sql.ts';
import type { TableDescription } from '../../table-description.ts';
import { inIndexOrder, leadingColumns, liveSql, type Scan, scanSql } from './scan.ts';

/** Of values that the options do not list. With more, the rest comes once the rows of these are done. */
const MOST_OTHER_VALUES = 100;

/**
 * A scan of one place in the order of the priorities, with the number of the priority as `leasehold_rank`.
 *
 * Each value is a scan of its own, from the first: rows of a higher priority that are leased or wait lie behind its end, where
 * one scan over all priorities would read through them. The next one begins only when those before it have given less than wanted:
 * `limit` stops a nested loop, so that nothing is locked in vain. It must have no `order by` beside it, which would first lock
 * `limit` rows of each.
 *
 * Values that are not listed come last, each found by a descent of the index: a row is served late then, and never forgotten.
 */
export function scanByPriority(description: TableDescription, place: readonly Sql[], scan: Scan): Sql {
  const { table } = description;
  if (table.priority === null) {
    return scanSql(table, place, { ...scan, selected: `${scan.selected}, 0 as leasehold_rank` });
  }
  const column = raw(quoteIdentifier(table.priority.column));
  const here = [...place, sql`${column} = leasehold_priority.leasehold_value`];
  return sql`select leasehold_found.*, leasehold_priority.leasehold_rank
  from (${prioritiesSql(description, table.priority.values, place)}) leasehold_priority
  cross join lateral (${scanSql(table, here, scan)}) leasehold_found
  limit ${scan.limit}::bigint`;
}

function prioritiesSql(description: TableDescription, values: readonly number[], place: readonly Sql[]): Sql {
  const { table } = description;
  const name = table.priority?.column ?? '';
  const [column, type] = [raw(quoteIdentifier(name)), raw(description.column(name).type)];
  const listed = sql`${[...values]}::text[]::${type}[]`;
  const next = (more: readonly Sql[]): Sql => sql`select ${column} as leasehold_value
      from ${inIndexOrder(table)}
      where ${join([liveSql(table), ...place, ...more], ' and ')}
      order by ${raw(leadingColumns(table).join(', '))}
      limit 1`;
  return sql`
    select leasehold_value, leasehold_rank::int from unnest(${listed}) with ordinality as given (leasehold_value, leasehold_rank)
    union all (
      with recursive leasehold_values as (
        select leasehold_first.*, 1 as leasehold_n from (${next([])}) leasehold_first
        union all
        select leasehold_next.*, leasehold_values.leasehold_n + 1
        from leasehold_values
        cross join lateral (${next([sql`${column} > leasehold_values.leasehold_value`])}) leasehold_next
        where leasehold_values.leasehold_n < ${values.length + MOST_OTHER_VALUES}::int
      )
      select leasehold_value, ${values.length}::int + leasehold_n from leasehold_values where leasehold_value <> all (${listed})
    )`;
}
