import { quoteIdentifier } from '../../../postgres/identifier.ts';
import { join, raw, type Sql, sql } from '../../sql.ts';
import type { TableDescription } from '../../table-description.ts';
import type { Round } from '../claim-request.ts';
import { scanByPriority } from './by-priority.ts';
import { atGroup, groupAliases, nullPatterns, placeLike } from './place.ts';
import { inIndexOrder, isDue, leadingColumns, liveSql } from './scan.ts';

/** Of groups that one statement looks at: each costs a descent of the index. */
export const MOST_STEPS = 1_000;

/**
 * The groups that have live rows, one step after the other, from behind the one that was served last, and around once.
 *
 * - A step is a descent of the index to the first entry behind the group: the number of rows in a group does not matter. That entry
 *   also tells whether a row of the group is due, as the due time follows the group in the index.
 * - It ends with as many groups with due rows as there are rows wanted, since each gives one.
 * - NULL is the last value of a column, as in the index.
 */
export function groupWalk(description: TableDescription, { after }: Round, limit: number): Sql {
  const aliases = groupAliases(description);
  const first = aliases.map((alias) => `case when walk.leasehold_n = 0 then next.${alias} else walk.first_${alias} end`);
  const isFirst = aliases.map((alias) => `next.${alias} is not distinct from walk.first_${alias}`).join(' and ');
  return sql`with recursive walk as (
    select seed.*, ${raw(aliases.map((alias) => `seed.${alias} as first_${alias}`).join(', '))},
           0 as leasehold_n, 0 as leasehold_lap, false as leasehold_is_due, 0 as leasehold_found
    from (select ${seed(description, after)}) seed
    union all
    select ${raw(aliases.map((alias) => `next.${alias}`).join(', '))}, ${raw(first.join(', '))},
           walk.leasehold_n + 1, next.leasehold_lap, this.is_due, walk.leasehold_found + this.is_due::int
    from walk
    cross join lateral (${nextGroup(description)}
      limit 1) next
    cross join lateral (select ${isGroupDue(description)} as is_due) this
    where walk.leasehold_n < ${MOST_STEPS}::int and walk.leasehold_found < ${limit}::int
      and not (walk.leasehold_n > 0 and next.leasehold_lap = 1 and ${raw(isFirst)})
  )
  select * from walk where leasehold_n > 0`;
}

/** The types, and above all the collations, have to be those of the columns: `> walk.…` would else not be the index's order. */
function seed(description: TableDescription, after: Round['after']): Sql {
  const { table } = description;
  const values = table.groupBy.map((name, index) => {
    const none = `(select ${quoteIdentifier(name)} from ${table.table.quoted} where false)`;
    const given = sql`${after?.[index] ?? null}::text::${raw(description.column(name).type)}`;
    return sql`coalesce(${given}, ${raw(none)}) as ${raw(groupAliases(description)[index] ?? '')}`;
  });
  return join(values);
}

/** Nearest first: another value of the last column, else of the one before it, else from the beginning, once. */
function nextGroup(description: TableDescription): Sql {
  const { table } = description;
  const aliases = groupAliases(description);
  const steps = table.groupBy.flatMap((name, index) => {
    const [column, value] = [quoteIdentifier(name), `walk.${aliases[index]}`];
    return nullPatterns(index).flatMap((nulls) => {
      const same = placeLike(description, 'walk', nulls);
      return [
        { depth: index, step: firstEntry(description, [...same, raw(`${column} > ${value}`)], raw('walk.leasehold_lap')) },
        {
          depth: index,
          step: firstEntry(description, [...same, raw(`${value} is not null and ${column} is null`)], raw('walk.leasehold_lap')),
        },
      ];
    });
  });
  const nearest = steps.toSorted((a, b) => b.depth - a.depth).map(({ step }) => step);
  return join([...nearest, firstEntry(description, [raw('walk.leasehold_lap = 0')], raw('1'))], '\n      union all ');
}

function firstEntry(description: TableDescription, place: readonly Sql[], lap: Sql): Sql {
  const { table } = description;
  const columns = table.groupBy.map((name, index) => `${quoteIdentifier(name)} as ${groupAliases(description)[index]}`);
  return sql`(select ${raw(columns.join(', '))}, ${raw(table.due)} as leasehold_due, ${lap} as leasehold_lap
      from ${inIndexOrder(table)}
      where ${join([liveSql(table), ...place], ' and ')}
      order by ${raw([...leadingColumns(table), table.due].join(', '))}
      limit 1)`;
}

/** With a priority between the group and the due time, the first entry does not tell. */
function isGroupDue(description: TableDescription): Sql {
  const { table } = description;
  if (table.priority === null) return raw('next.leasehold_due <= statement_timestamp()');
  const scan = { selected: '1', wanted: [isDue(table)], limit: 1, locks: false };
  return sql`exists (${atGroup(description, 'next', (place) => scanByPriority(description, place, scan))})`;
}
