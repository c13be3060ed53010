import { quoteIdentifier } from '../../postgres/identifier.ts';
import { encodeValue } from '../columns/encode.ts';
import { isoText } from '../columns/encode-date.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import type { SetValue } from '../set-values.ts';
import { isSql, raw, type Sql, sql, toSql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import { assignments } from './assignments.ts';
import type { SettleItem } from './settle-item.ts';
import type { Shape } from './settle-shape.ts';
import { valueById } from './values-by-id.ts';

/** What the `update` of a shape writes: the lease columns, what the outcome stands for, and what was asked for. */
export function settleWrites(description: TableDescription, shape: Shape): Sql[] {
  const { items, sample } = shape;
  const asked = sample.set.map(([name, value], index) => {
    const written = isSql(value) ? toSql(value) : valueSql(description, items, { name, index });
    return sql`${raw(quoteIdentifier(name))} = ${written}`;
  });
  const named = new Set(sample.set.map(([name]) => name));
  return [...leaseWrites(description, shape), ...outcomeWrites(description, shape, named), ...asked];
}

/** Whether a column of the id is among what is written. */
export function writesId(table: ResolvedWorkTable, { sample: { outcome, set } }: Shape): boolean {
  const always = { done: table.done, bury: table.dead?.set ?? {}, retry: {}, release: {} }[outcome];
  return [...Object.keys(always), ...set.map(([name]) => name)].some((name) => table.id.includes(name));
}

/** @throws {LeaseholdError} LEASEHOLD_WORK_TABLE when there is no such column; LEASEHOLD_INVALID_OPTION when it cannot hold a value. */
function valueSql(
  description: TableDescription,
  items: readonly SettleItem[],
  { name, index }: { readonly name: string; readonly index: number },
): Sql {
  const column = description.column(name);
  const texts = items.map(({ set }) => encodeValue(column, set[index]?.[1] as Exclude<SetValue, Sql>));
  return sql`${valueById(description, items, texts)}::${raw(column.type)}`;
}

function leaseWrites(description: TableDescription, { sample, items }: Shape): Sql[] {
  const { table } = description;
  const { outcome, after } = sample;
  const until = raw(quoteIdentifier(table.lockedUntil));
  const freed = raw(`${quoteIdentifier(table.lockId)} = null`);
  if (outcome === 'done' || outcome === 'bury') return [sql`${until} = null`];
  if (outcome === 'release') return [freed, sql`${until} = null`];
  const given = valueById(description, items, items.map(textOfDelay));
  const due =
    after instanceof Date ? sql`${given}::timestamptz` : sql`clock_timestamp() + ${given}::float8 * interval '1 millisecond'`;
  return [freed, sql`${until} = ${due}`];
}

function textOfDelay({ after }: SettleItem): string | null {
  return after instanceof Date ? isoText(after) : String(after ?? 0);
}

/** What is asked for by hand comes before what the table always writes. */
function outcomeWrites(description: TableDescription, { sample }: Shape, named: ReadonlySet<string>): Sql[] {
  const { table } = description;
  const { outcome, refund, reason } = sample;
  const unnamed = (set: object): object => Object.fromEntries(Object.entries(set).filter(([name]) => !named.has(name)));
  if (outcome === 'done') return assignments(description, unnamed(table.done) as typeof table.done);
  if (outcome === 'bury' && table.dead !== null) {
    const told = table.dead.reason === null ? {} : { [table.dead.reason]: reason ?? 'buried' };
    return assignments(description, unnamed({ ...table.dead.set, ...told }) as typeof table.done);
  }
  if (outcome !== 'release' || !refund || table.attempts === null || named.has(table.attempts.column)) return [];
  const column = quoteIdentifier(table.attempts.column);
  return [raw(`${column} = greatest(${column} - 1, 0)`)];
}
