import { idAliases, idColumns, isAmong, qualified, sameId } from '../names.ts';
import { join, raw, type Sql, sql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import type { SettlePart } from './settle-parts.ts';
import type { SettleRequest } from './settle-request.ts';
import { settleWrites, writesId } from './settle-writes.ts';
import { givenIds, inOrderOfIds, limitWaits } from './given.ts';
import type { Shape } from './settle-shape.ts';

/**
 * Settles any mixture of rows by one statement, and tells the fate of each.
 *
 * Why this shape:
 * - The guard is the token on the row and nothing else. A status comes back after a claim by another; a timestamp loses its
 *   microseconds in JavaScript.
 * - Rows are locked in the order of their ids before anything is written: two statements that settle the same rows wait for each
 *   other and never in a circle. What is locked is the newest version of each row, so what was read with the lock holds.
 * - Each row is looked up by itself, in the order of `given`, and what was written is asked for with `in`, which hashes it. The planner
 *   takes what comes out of a CTE for one row, and would compare every row with every other.
 * - Where the id itself is written, as with the key of a partition, the row is told by the id that it had, by a join in spite of this.
 * - A finished row keeps the token, without `locked_until`: it tells who finished it, and whoever asks again, not having heard the
 *   answer, hears `done` and writes nothing.
 * - Rows with the same outcome, columns and fragments are written by one `update`, whatever their number and their values.
 * - A freed row tells nothing of who freed it. Where the answer to a first try was lost, a free row is taken for freed by it: nobody
 *   else can have had the row within the lease.
 * - `lock_timeout` for this statement alone, which is a transaction of its own then: a statement that waits behind a lock would
 *   otherwise go on waiting in the server after it was given up here, and another behind it for each time it is tried again.
 */
export function settleSql(description: TableDescription, { items, shapes }: SettlePart, request: SettleRequest): Sql {
  const { table } = description;
  const { token, isRepeated, lockTimeoutMs } = request;
  const shapeOf = shapes.flatMap(({ index, items: alike }) => alike.map(() => index));
  const { ids, texts } = givenIds(description, items);
  const aliases = raw(idAliases(table).join(', '));
  const final = shapes.filter(({ isFinal }) => isFinal).map(({ index }) => index);
  return sql`
with leasehold_given as materialized (
  select ${ids}, g.leasehold_shape, g.leasehold_n
  from unnest(${texts}, ${shapeOf}::int[]) with ordinality as g (${aliases}, leasehold_shape, leasehold_n)${limitWaits(lockTimeoutMs)}
  order by ${inOrderOfIds(table)}
),
leasehold_found as materialized (
  select leasehold_given.*, held.*
  from leasehold_given
  left join lateral (
    select ${raw(qualified(table, table.lockId))} as leasehold_token, ${raw(qualified(table, table.lockedUntil))} as leasehold_until,
           true as leasehold_is_there
    from ${raw(table.table.quoted)}
    where ${raw(sameId(table, 'leasehold_given'))}
    for no key update
  ) held on true
)${join(
    shapes.map((shape) => writeSql(description, token, shape)),
    '',
  )},
leasehold_wrote as materialized (${raw(shapes.map(({ index }) => `select * from leasehold_wrote_${index}`).join(' union all '))})
select case when (${aliases}) in (select ${aliases} from leasehold_wrote) then 'done'
            when leasehold_is_there is null then 'gone'
            when leasehold_shape = any (${final}::int[])
              then case when leasehold_token = ${token}::uuid and leasehold_until is null then 'done' else 'lost' end
            when ${isRepeated}::boolean and leasehold_token is null then 'done'
            else 'lost' end as fate,
       exists (select from leasehold_wrote where leasehold_live) as still_live
from leasehold_found
order by leasehold_n`;
}

function writeSql(description: TableDescription, token: string, shape: Shape): Sql {
  const { table } = description;
  const cte = `leasehold_found_${shape.index}`;
  const aliases = idAliases(table);
  const moves = writesId(table, shape);
  const ids = idColumns(table).map((column, index) => `${moves ? `${cte}.${aliases[index]}` : column} as ${aliases[index]}`);
  const where = moves ? `from ${cte} where ${sameId(table, cte)} and` : 'where';
  return sql`,
${raw(cte)} as materialized (
  select ${raw(aliases.join(', '))}
  from leasehold_found
  where leasehold_shape = ${shape.index}::int and leasehold_token = ${token}::uuid and leasehold_until is not null
),
leasehold_wrote_${raw(String(shape.index))} as (
  update ${raw(table.table.quoted)} set ${join(settleWrites(description, shape))}
  ${raw(where)} ${raw(isAmong(table, cte))} and ${raw(qualified(table, table.lockId))} = ${token}::uuid
  returning ${raw(ids.join(', '))}, ${raw(shape.isFinal ? `(${table.live})` : 'false')} as leasehold_live
)`;
}
