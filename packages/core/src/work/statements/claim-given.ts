import { quoteIdentifier } from '../../postgres/identifier.ts';
import { idAliases, sameId } from '../names.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { empty, join, raw, type Sql, sql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import { buryFound, spentCtes, spentSql } from './bury-spent.ts';
import { candidates, placeOf, refSql, selected, wanted } from './candidates/candidates.ts';
import { isDue, liveSql, namedIds } from './candidates/scan.ts';
import type { ClaimRequest } from './claim-request.ts';
import { leaseSql } from './claim.ts';
import { givenIds } from './given.ts';

/** A row by its id, and why it is to be put away; null for one that is to be leased. */
export interface ListedRow {
  readonly leasehold_ref: string | readonly string[];
  readonly leasehold_reason: string | null;
}

/**
 * What the claim would write, and nothing is written: the rows that it would lease in due order, then those it would put away.
 *
 * @param locks passes by what somebody has locked. That may be the refused claim itself, for a moment: a client hears of an error
 * before the server has ended its transaction.
 */
export function listSql(description: TableDescription, request: ClaimRequest, locks: boolean): Sql {
  const { table } = description;
  const aliases = idAliases(table);
  const spent = spentCtes(description, request, locks);
  const order = ['leasehold_rank', 'leasehold_due', ...aliases].map((column) => `leasehold_next.${column}`).join(', ');
  const rest = raw(`
union all
select ${refSql(aliases)}, leasehold_reason from leasehold_spent`);
  return sql`
with ${candidates(description, request, locks)}${spent}
select * from (
  select leasehold_ref, null::text as leasehold_reason from leasehold_next order by ${raw(order)}
) listed${spent === empty ? empty : rest}`;
}

/** The claim of rows that are given by their ids, in that order, as far as it may still take them. */
export function claimGivenSql(description: TableDescription, request: ClaimRequest, refs: readonly (readonly string[])[]): Sql {
  const { table } = description;
  const { ids, texts } = givenIds(
    description,
    refs.map((ref) => ({ ref })),
  );
  const conditions = [liveSql(table), ...placeOf(description, request), ...wanted(description, request)];
  const next = sql`leasehold_given as materialized (
  select ${ids}, g.leasehold_n from unnest(${texts}) with ordinality as g (${raw(idAliases(table).join(', '))}, leasehold_n)
),
leasehold_next as materialized (
  select found.*, leasehold_given.leasehold_n as leasehold_rank
  from leasehold_given cross join lateral (${lockGiven(table, selected(table), conditions)}) found
)`;
  return leaseSql(description, request, { next, buried: empty, told: [] });
}

export interface RowToBury {
  readonly ref: readonly string[];
  readonly reason: string;
}

/**
 * Puts rows away that are given by their ids, and answers which it did. Those alone that are still spent, or have had an attempt at
 * least: `requeue()` may have come in between, which begins to count anew.
 */
export function buryGivenSql(description: TableDescription, request: ClaimRequest, rows: readonly RowToBury[]): Sql {
  const { table } = description;
  const { ids, texts } = givenIds(description, rows);
  const reasons = rows.map(({ reason }) => reason);
  const spent = [spentSql(table), table.attempts === null ? null : `${quoteIdentifier(table.attempts.column)} > 0`];
  const isSpent = raw(`(${spent.filter((one) => one !== null).join(' or ')})`);
  const conditions = [liveSql(table), isDue(table), isSpent];
  return sql`
with leasehold_given as materialized (
  select ${ids}, g.leasehold_reason
  from unnest(${texts}, ${reasons}::text[]) as g (${raw(idAliases(table).join(', '))}, leasehold_reason)
),
leasehold_spent as materialized (
  select found.*, leasehold_given.leasehold_reason
  from leasehold_given cross join lateral (${lockGiven(table, namedIds(table).join(', '), conditions)}) found
),
leasehold_buried_rows as (
  ${buryFound(description, request)}
  returning ${raw(refSql(idAliases(table).map((alias) => `leasehold_spent.${alias}`)))} as leasehold_ref
)
select leasehold_ref from leasehold_buried_rows`;
}

/**
 * The row of the table that one of `leasehold_given` names. As a subselect that locks, it cannot be joined the other way round: where
 * statistics say that hardly a row is due, the planner would read the given ones anew for each row that is.
 */
function lockGiven(table: ResolvedWorkTable, columns: string, conditions: readonly Sql[]): Sql {
  return sql`
    select ${raw(columns)}
    from ${raw(table.table.quoted)}
    where ${raw(sameId(table, 'leasehold_given'))} and ${join(conditions, ' and ')}
    for no key update of ${raw(quoteIdentifier(table.table.name))} skip locked`;
}
