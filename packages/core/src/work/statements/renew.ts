import { quoteIdentifier } from '../../postgres/identifier.ts';
import { idAliases, isAmong, qualified, sameId } from '../names.ts';
import { join, raw, type Sql, sql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';

export interface RenewRequest {
  readonly token: string;
  readonly leaseMs: number;
  /** The ids of the rows, as text. */
  readonly refs: readonly (readonly string[])[];
}

/**
 * Prolongs the lease of rows that still bear the claim's token: `renewed`, `busy` where somebody has the row locked, `lost` for the
 * rest, in the order asked.
 *
 * A locked row is passed by: it would hold up the renewal of all the others until their leases end. The stamp is of
 * `clock_timestamp()`, since time that this transaction has waited would shorten the lease.
 */
export function renewSql(description: TableDescription, { token, leaseMs, refs }: RenewRequest): Sql {
  const { table } = description;
  const aliases = idAliases(table);
  const given = table.id.map((column, index) => `g.${aliases[index]}::${description.column(column).type} as ${aliases[index]}`);
  const texts = table.id.map((_column, index) => sql`${refs.map((ref) => ref[index] ?? null)}::text[]`);
  const mine = sql`${raw(qualified(table, table.lockId))} = ${token}::uuid and ${raw(qualified(table, table.lockedUntil))} is not null`;
  const ordered = aliases.map((alias) => `given.${alias}`).join(', ');
  return sql`
with given as materialized (
  select ${raw(given.join(', '))}, g.leasehold_n
  from unnest(${join(texts)}) with ordinality as g (${raw(aliases.join(', '))}, leasehold_n)
),
free as materialized (
  select ${raw(ordered)}, given.leasehold_n
  from ${raw(table.table.quoted)} join given on ${raw(sameId(table, 'given'))}
  where ${raw(isAmong(table, 'given'))} and ${mine}
  order by ${raw(ordered)}
  for no key update of ${raw(quoteIdentifier(table.table.name))} skip locked
),
renewed as (
  update ${raw(table.table.quoted)}
  set ${raw(quoteIdentifier(table.lockedUntil))} = clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'
  from free
  where ${raw(isAmong(table, 'free'))} and ${raw(sameId(table, 'free'))} and ${mine}
  returning free.leasehold_n
),
still as materialized (
  select given.leasehold_n
  from ${raw(table.table.quoted)} join given on ${raw(sameId(table, 'given'))}
  where ${raw(isAmong(table, 'given'))} and ${mine}
)
select case when renewed.leasehold_n is not null then 'renewed' when still.leasehold_n is not null then 'busy' else 'lost' end as state
from given
left join renewed on renewed.leasehold_n = given.leasehold_n
left join still on still.leasehold_n = given.leasehold_n
order by given.leasehold_n`;
}

export type RenewState = 'renewed' | 'busy' | 'lost';
