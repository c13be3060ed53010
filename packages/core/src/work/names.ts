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
 * The rows of the table whose ids are in a CTE, by the primary key whatever the statistics say: an array that a sub-select
 * fills is looked up, where a join may become a scan of the whole table (measured elsewhere as 4 ms that became 400).
 */
export function isAmong(table: ResolvedWorkTable, cte: string): string {
  const columns = table.id.map((column) => qualified(table, column));
  const aliases = idAliases(table).join(', ');
  const [only] = columns;
  if (columns.length === 1 && only !== undefined) return `${only} = any (array(select ${aliases} from ${cte}))`;
  return `(${columns.join(', ')}) in (select ${aliases} from ${cte})`;
}

/** Equality of the table's id with that of a CTE. */
export function sameId(table: ResolvedWorkTable, cte: string): string {
  const aliases = idAliases(table);
  return table.id.map((column, index) => `${qualified(table, column)} = ${cte}.${aliases[index]}`).join(' and ');
}
