import { idAliases, isRowOf, qualified } from '../names.ts';
import { join, raw, type Sql, sql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import { givenIds, inOrderOfIds, limitWaits } from './given.ts';
import type { SettleRequest } from './settle-request.ts';
import { type Shape, valueColumns } from './settle-shape.ts';
import { settleWrites } from './settle-writes.ts';

/**
 * Settles rows that are all written alike, and tells which of them it wrote. Nearly always it is all of them; of the others,
 * `settleSql` knows what became of them.
 *
 * Why this shape:
 * - The guard is the token on the row, as there. The row that is written is its newest version: who waits for a lock here looks at the
 *   guard again afterwards.
 * - One `update` visits the rows in the order of their ids, and needs no locks before it: that would be another visit to each row, and
 *   70 bytes of WAL.
 * - One row is answered, and not one for each that was settled: reading these took the client as long as the rest (measured).
 */
export function settleAlikeSql(description: TableDescription, shape: Shape, { token, lockTimeoutMs }: SettleRequest): Sql {
  const { table } = description;
  const { ids, texts } = givenIds(description, shape.items);
  const columns = valueColumns(description, shape);
  const values = columns.map(({ texts: list }) => sql`${list}::text[]`);
  const names = raw([...idAliases(table), ...columns.map(({ alias }) => alias)].join(', '));
  const selected = raw(['', ...columns.map(({ alias }) => `g.${alias}`)].join(', '));
  return sql`
with leasehold_given as materialized (
  select ${ids}${selected}, g.leasehold_n
  from unnest(${join([texts, ...values])}) with ordinality as g (${names}, leasehold_n)${limitWaits(lockTimeoutMs)}
  order by ${inOrderOfIds(table)}
),
leasehold_wrote as (
  update ${raw(table.table.quoted)} set ${join(settleWrites(description, shape, columns, 'leasehold_given'))}
  from leasehold_given
  where ${raw(isRowOf(table, 'leasehold_given'))}
    and ${raw(qualified(table, table.lockId))} = ${token}::uuid and ${raw(qualified(table, table.lockedUntil))} is not null
  returning leasehold_given.leasehold_n, ${raw(shape.isFinal ? `(${table.live})` : 'false')} as leasehold_live
)
select case when count(*) < ${shape.items.length}::int then coalesce(string_agg(leasehold_n::text, ','), '') end as written,
       coalesce(bool_or(leasehold_live), false) as still_live
from leasehold_wrote`;
}

/** What it answers, in one row. */
export interface SettledAlike {
  /** The numbers of the rows that were written, from 1, with commas; null when all were. */
  readonly written: string | null;
  readonly still_live: boolean;
}
