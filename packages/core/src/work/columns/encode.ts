import { LeaseholdError, showValue } from '../../errors.ts';
import { errorText, storableText } from '../storable.ts';
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
  if (column.isJson) return encodeJson(column, value);
  if (Array.isArray(value)) {
    if (!column.isArray) throw unfit(column, value, 'it is no array; give a value that it can hold');
    return encodeArray(column, value);
  }
  return encodeScalar(column, value);
}

function encodeScalar(column: ColumnDescription, value: unknown): string {
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
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw unfit(column, 'an invalid Date', 'give a valid one');
    return value.toISOString();
  }
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (value instanceof Error) return errorText(value);
  throw unfit(column, value, 'give text, a number, a Date or a piece of SQL');
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

/** The text of an array: quoted throughout, so that no element is taken for NULL or for syntax. */
function encodeArray(column: ColumnDescription, values: readonly unknown[]): string {
  const elements = values.map((value) => {
    if (value === null || value === undefined) return 'NULL';
    if (Array.isArray(value)) return encodeArray(column, value);
    return `"${encodeScalar(column, value).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  });
  return `{${elements.join(',')}}`;
}

function unfit(column: ColumnDescription, value: unknown, fix: string): LeaseholdError {
  const message = `set.${column.name} is ${showValue(value)}, for a column of type ${column.type}; ${fix}.`;
  return new LeaseholdError('LEASEHOLD_INVALID_OPTION', message, { option: `set.${column.name}` });
}
