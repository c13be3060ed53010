import sqlTag, { empty, join, raw, Sql } from 'sql-template-tag';

/**
 * A piece of SQL: what stands between the braces becomes a parameter, never text.
 *
 * @example
 * sql`tenant_id = ${tenantId} and attempts < ${limit}`
 */
export const sql: (strings: readonly string[], ...values: readonly unknown[]) => Sql = sqlTag;

export { empty, join, raw, Sql };

/**
 * Also true for what another installation of `sql-template-tag` made. The shape of its data does not suffice: JSON that came
 * over the network may have it, and would be run as SQL. The accessors of a class cannot come that way.
 */
export function isSql(value: unknown): value is Sql {
  if (value instanceof Sql) return true;
  if (typeof value !== 'object' || value === null) return false;
  const { strings, values } = value as { strings?: unknown; values?: unknown };
  const hasParts = Array.isArray(strings) && Array.isArray(values) && strings.length === values.length + 1;
  return hasParts && ['sql', 'text'].every((name) => isAccessorOfClass(value, name));
}

function isAccessorOfClass(value: object, name: string): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== 'object' || prototype === null || Object.hasOwn(value, name)) return false;
  return typeof Object.getOwnPropertyDescriptor(prototype, name)?.get === 'function';
}

/** Of this installation, with all that is nested in it, so that it nests into the statements made here. */
export function toSql(fragment: Sql): Sql {
  const values = fragment.values.map((value) => (isSql(value) ? toSql(value) : value));
  return new Sql(fragment.strings, values);
}
