import { quoteIdentifier } from '../../postgres/identifier.ts';
import { encodeValue } from '../columns/encode.ts';
import type { SetValue, SetValues } from '../set-values.ts';
import { isSql, raw, type Sql, sql, toSql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';

/** `"column" = value` for what is the same in all rows of a statement. */
export function assignments(description: TableDescription, set: SetValues): Sql[] {
  return Object.entries(set).map(([name, value]) => sql`${raw(quoteIdentifier(name))} = ${valueSql(description, name, value)}`);
}

/** @throws {LeaseholdError} LEASEHOLD_WORK_TABLE when there is no such column; LEASEHOLD_INVALID_OPTION when it cannot hold the value. */
function valueSql(description: TableDescription, name: string, value: SetValue | undefined): Sql {
  const column = description.column(name);
  if (isSql(value)) return toSql(value);
  return sql`${encodeValue(column, value ?? null)}::text::${raw(column.type)}`;
}
