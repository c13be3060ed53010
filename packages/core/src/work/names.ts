import { quoteIdentifier } from '../postgres/identifier.ts';
import type { ResolvedWorkTable } from './resolve-work-table.ts';

/**
 * Names in the statements. Whatever is not the application's own begins with `leasehold_`, so that its fragments may name
 * its columns without a prefix, and no CTE stands in their way.
 */

/** The id's columns in a CTE: `leasehold_id_1`, … */
export function idAliases(table: ResolvedWorkTable): readonly string[] {
  return table.id.map((_column, index) => `leasehold_id_${index + 1}`);
}

/** The id's columns, quoted. */
export function idColumns(table: ResolvedWorkTable): readonly string[] {
  return table.id.map(quoteIdentifier);
}

/** The table's own columns with its name before them, where a CTE is joined. */
export function qualified(table: ResolvedWorkTable, column: string): string {
  return `${quoteIdentifier(table.table.name)}.${quoteIdentifier(column)}`;
}

/**
 * The row of the table whose id is in a row of a CTE.
 *
 * Not `=`: that may become a hash join with a scan of the whole table, when statistics say that this is small, or that the
 * CTE is large (measured elsewhere as 4 ms that became 400). An array of one is looked up in the index as `=` is, and can be joined in no
 * other way than row by row, in the order of the CTE.
 */
export function isRowOf(table: ResolvedWorkTable, cte: string): string {
  const aliases = idAliases(table);
  return table.id.map((column, index) => `${qualified(table, column)} = any (array[${cte}.${aliases[index]}])`).join(' and ');
}

/** The rows of the table whose ids are in a CTE, where none of its columns is wanted. */
export function isAmong(table: ResolvedWorkTable, cte: string): string {
  const columns = table.id.map((column) => qualified(table, column));
  const aliases = idAliases(table).join(', ');
  const [only] = columns;
  if (columns.length === 1 && only !== undefined) return `${only} = any (array(select ${aliases} from ${cte}))`;
  return `(${columns.join(', ')}) in (select ${aliases} from ${cte})`;
}
