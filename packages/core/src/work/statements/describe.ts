/** Whether an index allows no two rows that have the same values in these columns. Both are expressions. */
export function isUnique(table: string, columns: string): string {
  return `exists (
  select from pg_index i
  where i.indrelid = ${table} and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
    and (
      select bool_and(k.attname = any (${columns}))
      from unnest(i.indkey::smallint[]) with ordinality as key (attnum, n)
      join pg_attribute k on k.attrelid = i.indrelid and k.attnum = key.attnum
      where key.n <= i.indnkeyatts
    )
)`;
}

/**
 * What the catalog says about the table: one row for each column, none where there is no such table. `format_type(…, -1)`
 * gives a type without its length: a cast to `varchar(20)` would cut a longer text in silence, where an assignment refuses it.
 * Behind a domain there may be another, or an array of it: what a value is written as depends on the type at the bottom.
 */
export const DESCRIBE_SQL: string = `
select a.attname as name,
       format_type(a.atttypid, -1) as type,
       format_type(types.base, -1) as base_type,
       format_type(types.element, -1) as element_type,
       t.typcategory = 'A' as is_array,
       a.attnotnull as not_null,
       ${isUnique('a.attrelid', '$2::text[]')} as id_is_unique
from pg_attribute a
join pg_type t on t.oid = a.atttypid
cross join lateral (
  with recursive chain (oid, is_domain, below, n) as (
    select t.oid, t.typbasetype <> 0, coalesce(nullif(t.typbasetype, 0), case t.typcategory when 'A' then t.typelem end), 1
    union all
    select b.oid, b.typbasetype <> 0, coalesce(nullif(b.typbasetype, 0), case b.typcategory when 'A' then b.typelem end), n + 1
    from chain join pg_type b on b.oid = chain.below
  )
  select (array_agg(oid order by n) filter (where not is_domain))[1] as base, (array_agg(oid order by n desc))[1] as element from chain
) types
where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped
order by a.attnum`;

export interface DescribedColumn {
  readonly name: string;
  readonly type: string;
  readonly base_type: string;
  /** What the arrays of an array type, and the domains over it, consist of in the end; else the base type. */
  readonly element_type: string;
  readonly is_array: boolean;
  readonly not_null: boolean;
  readonly id_is_unique: boolean;
}
