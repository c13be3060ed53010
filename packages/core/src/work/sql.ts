import sqlTag, { empty, join, raw, Sql } from 'sql-template-tag';

/**
 * A piece of SQL: what stands between the braces becomes a parameter, never text.
 *
 * @example
 * sql`tenant_id = ${tenantId} and attempts < ${limit}`
 */
export const sql: (strings: readonly string[], ...values: readonly unknown[]) => Sql = sqlTag;

export { empty, join, raw, Sql };

/** Also true for what another installation of `sql-template-tag` made. */
export function isSql(value: unknown): value is Sql {
  if (value instanceof Sql) return true;
  if (typeof value !== 'object' || value === null) return false;
  const { strings, values } = value as { strings?: unknown; values?: unknown };
  return Array.isArray(strings) && Array.isArray(values) && strings.length === values.length + 1;
}

/** Of this installation, so that it nests into the statements made here. */
export function toSql(fragment: Sql): Sql {
  return new Sql(fragment.strings, fragment.values);
}
