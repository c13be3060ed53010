import { idAliases, idColumns } from '../../names.ts';
import { join, raw, type Sql, sql } from '../../sql.ts';
import type { TableDescription } from '../../table-description.ts';
import type { ClaimRequest, Group } from '../claim-request.ts';
import { scanByPriority } from './by-priority.ts';
import { groupWalk, MOST_STEPS } from './group-walk.ts';
import { atGroup, groupAliases, groupText } from './place.ts';
import { isDue, type Scan } from './scan.ts';

/** The groups in the order in which they are served, those with due rows alone: `leasehold_at`, and their values. */
export function groupCtes(description: TableDescription, request: ClaimRequest): Sql {
  const aliases = groupAliases(description).join(', ');
  if (request.groups !== null) {
    return sql`leasehold_groups as materialized (
  ${listedGroups(description, request, request.groups)}
)`;
  }
  return sql`leasehold_walk as materialized (
  ${groupWalk(description, request.round, request.limit)}
),
leasehold_groups as materialized (
  select ${raw(aliases)}, leasehold_n as leasehold_at from leasehold_walk where leasehold_is_due order by leasehold_n
)`;
}

/** From another one at each turn: with more groups than rows wanted, the first ones would have them all. */
function listedGroups(description: TableDescription, { round, limit }: ClaimRequest, groups: readonly Group[]): Sql {
  const { table } = description;
  const aliases = groupAliases(description);
  const start = groups.length === 0 ? 0 : round.turn % groups.length;
  const turned = [...groups.slice(start), ...groups.slice(0, start)];
  const texts = table.groupBy.map(
    (name, index) => sql`${turned.map((group) => groupText(description, name, group[index]))}::text[]`,
  );
  const typed = table.groupBy.map((name, index) => `${aliases[index]}::${description.column(name).type} as ${aliases[index]}`);
  const scan: Scan = { selected: '1', wanted: [isDue(table)], limit: 1, locks: false };
  return sql`select given.*
  from (
    select ${raw(typed.join(', '))}, leasehold_at::int
    from unnest(${join(texts)}) with ordinality as listed (${raw(aliases.join(', '))}, leasehold_at)
  ) given
  where exists (${atGroup(description, 'given', (place) => scanByPriority(description, place, scan))})
  limit ${limit}::bigint`;
}

/**
 * Rows of all groups, evenly: first each group's quota, then from those that have more, in the order of the round.
 *
 * - The quota stops a scan from without, by a `limit` around one that the planner knows: it takes an unknown one for a tenth of
 *   everything, and may then sort the whole group.
 * - What the first pass has locked is not passed by in the second, as it is this statement's own, and so it is left out by its id.
 * - The groups of the second pass are found before it begins: as a condition beside the scans, it might be checked after them, when
 *   rows are locked that nobody gets.
 */
export function dueByGroup(description: TableDescription, scan: Scan): Sql {
  const { table } = description;
  const aliases = idAliases(table).join(', ');
  const unserved = raw(`(${idColumns(table).join(', ')}) not in (select ${aliases} from leasehold_first)`);
  const scansOf = (source: string, more: readonly Sql[]): Sql => {
    return atGroup(description, source, (place) =>
      scanByPriority(description, place, { ...scan, wanted: [...scan.wanted, ...more] }),
    );
  };
  return sql`leasehold_quota as materialized (
  select ceil(${scan.limit}::float8 / greatest(count(*), 1))::bigint as quota from leasehold_groups
),
leasehold_first as materialized (
  select found.*, leasehold_groups.leasehold_at
  from leasehold_groups
  cross join lateral (
    select * from (${scansOf('leasehold_groups', [])}) one
    limit (select quota from leasehold_quota)
  ) found
  limit ${scan.limit}::bigint
),
leasehold_rest as materialized (
  select * from leasehold_groups
  where leasehold_at in (
    select leasehold_at from leasehold_first group by leasehold_at having count(*) >= (select quota from leasehold_quota)
  )
  order by leasehold_at
),
leasehold_second as materialized (
  select found.*, leasehold_rest.leasehold_at
  from leasehold_rest
  cross join lateral (${scansOf('leasehold_rest', [unserved])}) found
  limit ${scan.limit}::bigint - (select count(*) from leasehold_first)
),
leasehold_next as materialized (
  select * from leasehold_first union all select * from leasehold_second
)`;
}

/** Where the next claim goes on: behind the last group looked at, or after a whole round one group further than this one began. */
export function roundColumns(description: TableDescription, { limit }: ClaimRequest): readonly string[] {
  const values = groupAliases(description).map((alias) => `${alias}::text`);
  const cut = `(select leasehold_n >= ${MOST_STEPS} or leasehold_found >= ${limit} from leasehold_walk order by leasehold_n desc limit 1)`;
  return [
    `(select array[${values.join(', ')}] from leasehold_walk where leasehold_is_due or ${cut}
   order by case when ${cut} then -leasehold_n else leasehold_n end limit 1) as leasehold_after`,
    `coalesce(${cut}, false) as leasehold_cut`,
    '(select coalesce(max(leasehold_lap), 0) from leasehold_walk) as leasehold_lap',
  ];
}
