import { quoteIdentifier } from '../../../postgres/identifier.ts';
import { encodeValue } from '../../columns/encode.ts';
import type { SetValue } from '../../set-values.ts';
import { join, raw, type Sql, sql } from '../../sql.ts';
import type { TableDescription } from '../../table-description.ts';

/** The columns of a group in a CTE: `leasehold_group_1`, … */
export function groupAliases({ table }: TableDescription): readonly string[] {
  return table.groupBy.map((_column, index) => `leasehold_group_${index + 1}`);
}

/** A value of a `groupBy` column as text, for a cast to the column's type. */
export function groupText(description: TableDescription, column: string, value: unknown): string | null {
  return encodeValue(description.column(column), value as Exclude<SetValue, Sql>);
}

/** The place of a group whose values are known. */
export function placeOfGroup(description: TableDescription, group: Readonly<Record<string, unknown>>): Sql[] {
  return description.table.groupBy.map((name) => {
    const [column, text] = [raw(quoteIdentifier(name)), groupText(description, name, group[name])];
    return text === null ? sql`${column} is null` : sql`${column} = ${text}::text::${raw(description.column(name).type)}`;
  });
}

/**
 * The same scan at the place of whatever group a row of `source` names, any of its columns NULL or not.
 *
 * No single condition that an index takes says "the same, or both NULL". So there is one scan for each combination, of which the
 * values let one begin: `=` finds nothing for NULL without a look at the index, and `is null` stands behind a condition on the row
 * of `source` alone, which is checked before.
 */
export function atGroup(description: TableDescription, source: string, scanAt: (place: Sql[]) => Sql): Sql {
  const scans = nullPatterns(description.table.groupBy.length).map((nulls) => {
    // A part of a union may not lock; what it selects from may.
    return sql`select * from (${scanAt(placeLike(description, source, nulls))}) like_group`;
  });
  return join(scans, '\n  union all ');
}

/** The place of the first columns of the group that a row of `source` names, NULL where `nulls` says so. */
export function placeLike(description: TableDescription, source: string, nulls: readonly boolean[]): Sql[] {
  const aliases = groupAliases(description);
  return nulls.map((isNull, index) => {
    const [column, value] = [quoteIdentifier(description.table.groupBy[index] ?? ''), `${source}.${aliases[index]}`];
    return raw(isNull ? `${value} is null and ${column} is null` : `${column} = ${value}`);
  });
}

/** All combinations of NULL and not, for so many columns. */
export function nullPatterns(count: number): readonly (readonly boolean[])[] {
  return Array.from({ length: 2 ** count }, (_one, bits) => {
    return Array.from({ length: count }, (_two, index) => (bits & (1 << index)) !== 0);
  });
}
