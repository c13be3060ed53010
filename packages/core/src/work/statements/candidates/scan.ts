import { quoteIdentifier } from '../../../postgres/identifier.ts';
import { idAliases, idColumns } from '../../names.ts';
import type { ResolvedWorkTable } from '../../resolve-work-table.ts';
import { empty, join, raw, type Sql, sql } from '../../sql.ts';

/** What is looked for among the live rows of one place in the claim index, in its order. */
export interface Scan {
  readonly selected: string;
  readonly wanted: readonly Sql[];
  readonly limit: number;
  /** Locks what it finds, passing by what others have locked. */
  readonly locks: boolean;
}

/**
 * One scan of the claim index, within the place that its leading columns are held to.
 *
 * The order names these columns too, though they are the same in all rows found: the planner knows that of `=` alone, and
 * would sort the whole of a place that `is null` describes.
 */
export function scanSql(table: ResolvedWorkTable, place: readonly Sql[], { selected, wanted, limit, locks }: Scan): Sql {
  return sql`select ${raw(selected)}
  from ${inIndexOrder(table)}
  where ${join([liveSql(table), ...place, ...wanted], ' and ')}
  order by ${raw([...leadingColumns(table), table.due, ...idColumns(table)].join(', '))}
  limit ${limit}::bigint${locks ? raw(`\n  for no key update of ${quoteIdentifier(table.table.name)} skip locked`) : empty}`;
}

/**
 * The table, in a way that keeps the planner to the order of the claim index.
 *
 * A queue fills and empties faster than statistics are taken. Where these say that hardly a row is due, reading them all by a bitmap
 * and sorting them looks as cheap as following the index to the first few: with 50,000 rows in truth, that is the whole table at
 * each claim. The series are of one row each. The planner takes an end that it does not know for a thousand rows, and so the
 * rows wanted for a small part of the whole: whatever must read everything before it gives the first is out of question. One does for
 * an index that begins with the due time; with columns before that, the planner has more ways to choose from.
 */
export function inIndexOrder(table: ResolvedWorkTable): Sql {
  const names = leadingColumns(table).length === 0 ? ['leasehold_many'] : ['leasehold_many', 'leasehold_more'];
  const series = names.map((name) => `cross join generate_series(1, (select 1)) ${name}`);
  return raw(`${table.table.quoted}
    ${series.join(' ')}`);
}

export function liveSql(table: ResolvedWorkTable): Sql {
  return raw(`(${table.live})`);
}

/** The columns before the due time in the claim index, quoted. */
export function leadingColumns({ groupBy, priority }: ResolvedWorkTable): readonly string[] {
  return [...groupBy, ...(priority === null ? [] : [priority.column])].map(quoteIdentifier);
}

export function isDue(table: ResolvedWorkTable): Sql {
  return raw(`${table.due} <= statement_timestamp()`);
}

/** The id's columns by the names that they have in a CTE. */
export function namedIds(table: ResolvedWorkTable): readonly string[] {
  return idColumns(table).map((column, index) => `${column} as ${idAliases(table)[index]}`);
}
