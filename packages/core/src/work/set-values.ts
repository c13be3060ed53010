import { requireThat } from '../require-option.ts';
import { isSql, type Sql } from './sql.ts';
import { resolveIdentifier } from './work-table-name.ts';

/**
 * Columns and what is written into them: a value, which becomes a parameter, or a piece of SQL.
 *
 * `null` is SQL's NULL in every column. What goes into a `json` or `jsonb` column is the value itself, not its text; JSON's
 * own null is ``sql`'null'::jsonb` ``. `undefined` is refused, as it could mean either. Text is made storable: PostgreSQL
 * takes neither `\u0000` nor half a surrogate pair, and the statement that records a failure would fail of it.
 */
export type SetValues<Row extends object = Record<string, unknown>> = {
  readonly [Column in keyof Row & string]?: Row[Column] | Sql | Error | null;
} & { readonly [column: string]: SetValue | undefined };

export type SetValue = Sql | string | number | bigint | boolean | Date | Error | Uint8Array | object | null;

/**
 * Checks what can be known without the table.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
export function resolveSetValues(option: string, set: unknown): SetValues {
  // Of an error, a Map or a Date in its place nothing would be written, in silence.
  const isPlain = Object.prototype.toString.call(set) === '[object Object]' && !(set instanceof Error) && !isSql(set);
  requireThat(isPlain, option, set, 'give an object of columns and what is written into them');
  for (const [column, value] of Object.entries(set as object)) {
    resolveIdentifier(option, column);
    requireThat(
      value !== undefined,
      `${option}.${column}`,
      value,
      'give null for NULL, or leave the column out: undefined could mean either',
    );
    const storable = typeof value !== 'function' && typeof value !== 'symbol';
    requireThat(storable, `${option}.${column}`, value, 'give a value that a column can hold, or a piece of SQL');
  }
  return set as SetValues;
}
