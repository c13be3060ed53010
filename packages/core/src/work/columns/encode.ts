import { LeaseholdError, showValue } from '../../errors.ts';
import { errorText, storableText } from '../storable.ts';
import { isoText, localText } from './encode-date.ts';
import type { SetValue } from '../set-values.ts';
import type { Sql } from '../sql.ts';
import type { ColumnDescription } from '../table-description.ts';

/**
 * A value as PostgreSQL's text for it, to be cast to the type of its column: arrays of texts carry the values of any
 * number of rows in one parameter.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when the column cannot hold such a value.
 */
export function encodeValue(column: ColumnDescription, value: Exclude<SetValue, Sql>): string | null {
  if (value === null) return null;
  if (!column.isArray) return encodeElement(column, value);
  if (Array.isArray(value)) return encodeArray(column, value);
  if (typeof value === 'string') return storableText(value);
  throw unfit(column, value, 'give an array, or the text of one');
}

function encodeElement(column: ColumnDescription, value: unknown): string {
  if (column.isJson) return encodeJson(column, value);
  switch (typeof value) {
    case 'string':
      return storableText(value);
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return encodeObject(column, value);
  }
}

function encodeObject(column: ColumnDescription, value: unknown): string {
  if (value instanceof Date) return encodeDate(column, value);
  if (value instanceof Uint8Array) {
    if (!column.isBinary) throw unfit(column, 'binary data', 'decode it to text first');
    return `\\x${Buffer.from(value).toString('hex')}`;
  }
  if (value instanceof Error) return errorText(value);
  const { toPostgres } = Object(value) as { toPostgres?: unknown };
  // What a driver reads an interval as, for one.
  if (typeof toPostgres === 'function') return storableText(String(toPostgres.call(value, String)));
  throw unfit(column, value, 'give text, a number, a Date or a piece of SQL');
}

function encodeDate(column: ColumnDescription, value: Date): string {
  const text = column.isLocalTime ? localText(value) : isoText(value);
  if (text === null) throw unfit(column, 'a Date that PostgreSQL does not take', 'give a valid one before the year 10000');
  return text;
}

/** NUL and half a surrogate pair pass through JSON's text as escapes, which jsonb refuses: they are mended before. */
function encodeJson(column: ColumnDescription, value: unknown): string {
  try {
    const text = JSON.stringify(value, (_key, part: unknown) => mendPart(part)) as string | undefined;
    if (text !== undefined) return text;
  } catch (error) {
    throw unfit(column, value, `it has no JSON text (${error instanceof Error ? error.message : String(error)})`);
  }
  throw unfit(column, value, 'it has no JSON text');
}

function mendPart(part: unknown): unknown {
  if (typeof part === 'string') return storableText(part);
  if (typeof part === 'bigint') return part.toString();
  if (part instanceof Error) return { name: part.name, message: part.message };
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  const isStorable = Object.keys(part).every((key) => storableText(key) === key);
  return isStorable ? part : Object.fromEntries(Object.entries(part).map(([key, inner]) => [storableText(key), inner]));
}

/** The text of an array: quoted throughout, so that no element is taken for NULL or for syntax. An array in one of JSON is JSON. */
function encodeArray(column: ColumnDescription, values: readonly unknown[]): string {
  const elements = values.map((value) => {
    if (value === null || value === undefined) return 'NULL';
    if (Array.isArray(value) && !column.isJson) return encodeArray(column, value);
    return `"${encodeElement(column, value).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  });
  return `{${elements.join(',')}}`;
}

function unfit(column: ColumnDescription, value: unknown, fix: string): LeaseholdError {
  const message = `set.${column.name} is ${showValue(value)}, for a column of type ${column.type}; ${fix}.`;
  return new LeaseholdError('LEASEHOLD_INVALID_OPTION', message, { option: `set.${column.name}` });
}
