import { quoteIdentifier } from '../../postgres/identifier.ts';
import { idAliases, isAmong, qualified, sameId } from '../names.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { empty, isSql, join, raw, type Sql, sql, toSql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import { assignments } from './assignments.ts';
import type { SettlePart } from './settle-parts.ts';
import { groupByShape, type Shape, type ValueColumn, valueColumns } from './settle-shape.ts';

export interface SettleRequest {
  readonly token: string;
  /** It may have been run before, without an answer. */
  readonly isRepeated: boolean;
  /** Null within a transaction of the caller's, whose settings are its own. */
  readonly lockTimeoutMs: number | null;
}

/**
 * Settles any mixture of rows by one statement, and tells the fate of each.
 *
 * Why this shape:
 * - The guard is the token on the row and nothing else. A status comes back after a claim by another; a timestamp loses its
 *   microseconds in JavaScript.
 * - Rows are locked in the order of their ids before anything is written: two statements that settle the same rows wait for each
 *   other and never in a circle. What is locked is the newest version of each row, so what was read with the lock holds.
 * - A finished row keeps the token, without `locked_until`: it tells who finished it, and whoever asks again, not having heard the
 *   answer, hears `done` and writes nothing.
 * - Values come as one array of texts for each column, whatever the number of rows; rows with the same columns and
 *   fragments are written by one `update`.
 * - A freed row tells nothing of who freed it. Where the answer to a first try was lost, a free row is taken for freed by it: nobody
 *   else can have had the row within the lease.
 * - `lock_timeout` for this statement alone, which is a transaction of its own then: a statement that waits behind a lock would
 *   otherwise go on waiting in the server after it was given up here, and another behind it for each time it is tried again.
 */
export function settleSql(description: TableDescription, { items }: SettlePart, request: SettleRequest): Sql {
  const { table } = description;
  const { token, isRepeated, lockTimeoutMs } = request;
  const { shapes, shapeOf } = groupByShape(items);
  const aliases = idAliases(table);
  const ids = table.id.map((column, index) => {
    const texts = items.map((item) => item.ref[index] ?? null);
    return { texts, cast: description.column(column).type, alias: aliases[index] ?? '' };
  });
  const given = 'leasehold_given';
  const ordered = aliases.map((alias) => `${given}.${alias}`).join(', ');
  const final = shapes.filter(({ isFinal }) => isFinal).map(({ index }) => index);
  return sql`
with leasehold_given as materialized (
  select ${raw(ids.map(({ alias, cast }) => `g.${alias}::${cast} as ${alias}`).join(', '))}, g.leasehold_shape, g.leasehold_n
  from unnest(${join(ids.map(({ texts }) => sql`${texts}::text[]`))}, ${shapeOf}::int[])
    with ordinality as g (${raw(aliases.join(', '))}, leasehold_shape, leasehold_n)${limitWaits(lockTimeoutMs)}
),
leasehold_found as materialized (
  select ${raw(ordered)}, leasehold_given.leasehold_shape, leasehold_given.leasehold_n,
         ${raw(qualified(table, table.lockId))} as leasehold_token, ${raw(qualified(table, table.lockedUntil))} as leasehold_until
  from ${raw(table.table.quoted)} join leasehold_given on ${raw(sameId(table, given))}
  where ${raw(isAmong(table, given))}
  order by ${raw(ordered)}
  for no key update of ${raw(quoteIdentifier(table.table.name))}
)${join(
    shapes.map((shape) => writeSql(description, token, shape)),
    '',
  )}
select case when w.leasehold_n is not null then 'done'
            when leasehold_found.leasehold_n is null then 'gone'
            when leasehold_given.leasehold_shape = any (${final}::int[])
              then case when leasehold_found.leasehold_token = ${token}::uuid and leasehold_found.leasehold_until is null then 'done' else 'lost' end
            when ${isRepeated}::boolean and leasehold_found.leasehold_token is null then 'done'
            else 'lost' end as fate,
       coalesce(w.leasehold_live, false) as still_live
from leasehold_given
left join leasehold_found on leasehold_found.leasehold_n = leasehold_given.leasehold_n
left join (${raw(shapes.map(({ index }) => `select * from leasehold_wrote_${index}`).join(' union all '))}) w
  on w.leasehold_n = leasehold_given.leasehold_n
order by leasehold_given.leasehold_n`;
}

/** Set before the first lock is waited for, since the ids come from here; gone with the transaction. */
function limitWaits(lockTimeoutMs: number | null): Sql {
  if (lockTimeoutMs === null) return empty;
  return sql`, (select set_config('lock_timeout', ${String(lockTimeoutMs)}::text, true)) leasehold_limit`;
}

function writeSql(description: TableDescription, token: string, shape: Shape): Sql {
  const { table } = description;
  const columns = valueColumns(description, shape);
  const cte = `leasehold_found_${shape.index}`;
  const values =
    columns.length === 0 ? empty : sql` join ${valuesSql(shape, columns)} on v.leasehold_n = leasehold_found.leasehold_n`;
  const own = ['leasehold_n', ...idAliases(table)].map((name) => `leasehold_found.${name}`);
  const picked = [...own, ...columns.map(({ alias }) => `v.${alias}`)];
  return sql`,
${raw(cte)} as materialized (
  select ${raw(picked.join(', '))}
  from leasehold_found${values}
  where leasehold_found.leasehold_shape = ${shape.index}::int and leasehold_found.leasehold_token = ${token}::uuid and leasehold_found.leasehold_until is not null
),
leasehold_wrote_${raw(String(shape.index))} as (
  update ${raw(table.table.quoted)} set ${join(writes(description, shape, columns))}
  from ${raw(cte)}
  where ${raw(isAmong(table, cte))} and ${raw(sameId(table, cte))}
    and ${raw(qualified(table, table.lockId))} = ${token}::uuid
  returning ${raw(cte)}.leasehold_n, ${raw(shape.isFinal ? `(${table.live})` : 'false')} as leasehold_live
)`;
}

function valuesSql(shape: Shape, columns: readonly ValueColumn[]): Sql {
  const arrays = join(columns.map(({ texts }) => sql`${texts}::text[]`));
  return sql`unnest(${shape.numbers}::bigint[], ${arrays}) as v (leasehold_n, ${raw(columns.map(({ alias }) => alias).join(', '))})`;
}

/** What the `update` of a shape writes: the lease columns, what the outcome stands for, and what was asked for. */
function writes(description: TableDescription, shape: Shape, columns: readonly ValueColumn[]): Sql[] {
  const { table } = description;
  const cte = `leasehold_found_${shape.index}`;
  const asked = shape.sample.set.map(([name, value]) => {
    const column = columns.find((one) => one.name === name);
    const written = column === undefined && isSql(value) ? toSql(value) : raw(`${cte}.${column?.alias}::${column?.type}`);
    return sql`${raw(quoteIdentifier(name))} = ${written}`;
  });
  const named = new Set(shape.sample.set.map(([name]) => name));
  return [...leaseWrites(table, shape), ...outcomeWrites(description, shape, named), ...asked];
}

function leaseWrites(table: ResolvedWorkTable, shape: Shape): Sql[] {
  const { outcome, after } = shape.sample;
  const until = raw(quoteIdentifier(table.lockedUntil));
  const freed = raw(`${quoteIdentifier(table.lockId)} = null`);
  if (outcome === 'done' || outcome === 'bury') return [sql`${until} = null`];
  if (outcome === 'release') return [freed, sql`${until} = null`];
  const given = raw(`leasehold_found_${shape.index}.leasehold_after`);
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
