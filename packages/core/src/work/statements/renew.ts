import { quoteIdentifier } from '../../postgres/identifier.ts';
import { idAliases, isAmong, qualified, sameId } from '../names.ts';
import { raw, type Sql, sql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import { givenIds } from './given.ts';

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
 *
 * No renewal shortens a lease: one whose answer was lost, or that is run long after it was given up, would otherwise let
 * another worker in while this one still believes in what an earlier renewal promised.
 */
export function renewSql(description: TableDescription, { token, leaseMs, refs }: RenewRequest): Sql {
  const { table } = description;
  const aliases = idAliases(table);
  const { ids, texts } = givenIds(
    description,
    refs.map((ref) => ({ ref })),
  );
  const mine = sql`${raw(qualified(table, table.lockId))} = ${token}::uuid and ${raw(qualified(table, table.lockedUntil))} is not null`;
  const until = raw(qualified(table, table.lockedUntil));
  const ordered = aliases.map((alias) => `leasehold_given.${alias}`).join(', ');
  return sql`
with leasehold_given as materialized (
  select ${ids}, g.leasehold_n
  from unnest(${texts}) with ordinality as g (${raw(aliases.join(', '))}, leasehold_n)
),
leasehold_free as materialized (
  select ${raw(ordered)}, leasehold_given.leasehold_n
  from ${raw(table.table.quoted)} join leasehold_given on ${raw(sameId(table, 'leasehold_given'))}
  where ${raw(isAmong(table, 'leasehold_given'))} and ${mine}
  order by ${raw(ordered)}
  for no key update of ${raw(quoteIdentifier(table.table.name))} skip locked
),
leasehold_renewed as (
  update ${raw(table.table.quoted)}
  set ${raw(quoteIdentifier(table.lockedUntil))} = greatest(${until}, clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond')
  from leasehold_free
  where ${raw(isAmong(table, 'leasehold_free'))} and ${raw(sameId(table, 'leasehold_free'))} and ${mine}
  returning leasehold_free.leasehold_n
),
leasehold_still as materialized (
  select leasehold_given.leasehold_n
  from ${raw(table.table.quoted)} join leasehold_given on ${raw(sameId(table, 'leasehold_given'))}
  where ${raw(isAmong(table, 'leasehold_given'))} and ${mine}
)
select case when leasehold_renewed.leasehold_n is not null then 'renewed' when leasehold_still.leasehold_n is not null then 'busy' else 'lost' end as state
from leasehold_given
left join leasehold_renewed on leasehold_renewed.leasehold_n = leasehold_given.leasehold_n
left join leasehold_still on leasehold_still.leasehold_n = leasehold_given.leasehold_n
order by leasehold_given.leasehold_n`;
}

export type RenewState = 'renewed' | 'busy' | 'lost';
