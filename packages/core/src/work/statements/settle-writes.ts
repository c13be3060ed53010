import { quoteIdentifier } from '../../postgres/identifier.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { isSql, raw, type Sql, sql, toSql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import { assignments } from './assignments.ts';
import type { Shape, ValueColumn } from './settle-shape.ts';

/**
 * What the `update` of a shape writes: the lease columns, what the outcome stands for, and what was asked for. `source` is the CTE
 * with the values, as text or of their type.
 */
export function settleWrites(description: TableDescription, shape: Shape, columns: readonly ValueColumn[], source: string): Sql[] {
  const asked = shape.sample.set.map(([name, value]) => {
    const column = columns.find((one) => one.name === name);
    const written = column === undefined && isSql(value) ? toSql(value) : raw(`${source}.${column?.alias}::${column?.type}`);
    return sql`${raw(quoteIdentifier(name))} = ${written}`;
  });
  const named = new Set(shape.sample.set.map(([name]) => name));
  return [...leaseWrites(description.table, shape, source), ...outcomeWrites(description, shape, named), ...asked];
}

function leaseWrites(table: ResolvedWorkTable, shape: Shape, source: string): Sql[] {
  const { outcome, after } = shape.sample;
  const until = raw(quoteIdentifier(table.lockedUntil));
  const freed = raw(`${quoteIdentifier(table.lockId)} = null`);
  if (outcome === 'done' || outcome === 'bury') return [sql`${until} = null`];
  if (outcome === 'release') return [freed, sql`${until} = null`];
  const given = raw(`${source}.leasehold_after`);
  const due =
    after instanceof Date ? sql`${given}::timestamptz` : sql`clock_timestamp() + ${given}::float8 * interval '1 millisecond'`;
  return [freed, sql`${until} = ${due}`];
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
