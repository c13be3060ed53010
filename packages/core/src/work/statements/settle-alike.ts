import { quoteIdentifier } from '../../postgres/identifier.ts';
import { idColumns } from '../names.ts';
import { join, raw, type Sql, sql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import type { SettleRequest } from './settle-request.ts';
import type { Shape } from './settle-shape.ts';
import { settleWrites, writesId } from './settle-writes.ts';

/**
 * Settles rows of one shape, and tells which of them it wrote: nearly always all. What became of the others, `settleSql` knows. Null
 * where the id has several columns, or is written itself.
 *
 * Why this shape:
 * - The guard is the token on the row, as there. What is written is the newest version of the row: where the `update` had to wait for
 *   it, PostgreSQL asks the guard again afterwards.
 * - No row is locked before: that is another visit to each, and 70 bytes of WAL. An index is asked for a list of ids in its own
 *   order, so that two of these do not wait for each other in a circle; where a plan or a mixture takes another order, the one
 *   that PostgreSQL breaks off is run again.
 * - The list is a parameter. What a CTE gives, the planner would join, by a scan of the whole table where its statistics are wrong.
 * - One row is answered, and not one for each that was settled: it takes the client longer to read these than to do all the rest.
 */
export function settleAlikeSql(description: TableDescription, shape: Shape): ((request: SettleRequest) => Sql) | null {
  const { table } = description;
  const [id, ...more] = table.id;
  if (id === undefined || more.length > 0 || writesId(table, shape)) return null;
  const { type } = description.column(id);
  const [column = ''] = idColumns(table);
  const ids = shape.items.map(({ ref }) => ref[0] ?? null);
  const written = settleWrites(description, shape);
  const [lockId, lockedUntil] = [quoteIdentifier(table.lockId), quoteIdentifier(table.lockedUntil)];
  return ({ token, lockTimeoutMs }) => sql`
with leasehold_wrote as (
  update ${raw(table.table.quoted)} set ${join(written)}
  where ${raw(column)} = any (${ids}::text[]::${raw(type)}[])
    and ${raw(lockId)} = ${token}::uuid and ${raw(lockedUntil)} is not null and ${waitsAreLimited(lockTimeoutMs)}
  returning ${raw(column)} as leasehold_id, ${raw(shape.isFinal ? `(${table.live})` : 'false')} as leasehold_live
)
select case when count(*) < ${ids.length}::int then (
         select json_agg(g.leasehold_n)
         from unnest(${ids}::text[]) with ordinality as g (leasehold_ref, leasehold_n)
         where g.leasehold_ref::${raw(type)} not in (select leasehold_id from leasehold_wrote)
       )::text end as others,
       coalesce(bool_or(leasehold_live), false) as still_live
from leasehold_wrote`;
}

/** Looked at before the first row, as it is about none. */
function waitsAreLimited(lockTimeoutMs: number | null): Sql {
  if (lockTimeoutMs === null) return sql`true`;
  return sql`(select set_config('lock_timeout', ${String(lockTimeoutMs)}::text, true)) <> ''`;
}

/** What it answers, in one row. */
export interface SettledAlike {
  /** The numbers of the rows that were not written, as a JSON list, from 1; null when all were. */
  readonly others: string | null;
  readonly still_live: boolean;
}
