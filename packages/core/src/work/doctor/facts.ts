import { claimIndex } from '../ddl/indexes.ts';
import { objectNamePrefix, type Purpose } from '../ddl/object-name.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import type { Examination } from './examination.ts';

interface IndexFacts {
  readonly name: string;
  readonly isValid: boolean;
  readonly pages: number;
}

/** What the catalog and the statistics say, partitions taken together. */
export interface Facts {
  readonly pages: number;
  /** By the statistics; null where there are none. */
  readonly rows: number | null;
  readonly dead: number;
  readonly autovacuumIsOff: boolean;
  readonly hasVacuumSettings: boolean;
  readonly claimIndex: IndexFacts | null;
  readonly indexes: readonly IndexFacts[];
  readonly constraints: readonly { readonly name: string; readonly isValid: boolean }[];
}

/** The table itself, or all its partitions that hold rows. */
const STORED = `stored as (
  select relid from pg_partition_tree(to_regclass($1)) where isleaf
  union select to_regclass($1) where (select relkind from pg_class where oid = to_regclass($1)) = 'r'
)`;

/** An estimate of -1 is a table that was never analyzed. Pages are of the files, since the estimate of them is as old as that of the rows. */
const FACTS_SQL = `with ${STORED}
select sum(pg_relation_size(c.oid) / current_setting('block_size')::int)::float8 as pages,
  case when bool_and(c.reltuples >= 0) then sum(c.reltuples)::float8 end as rows,
  coalesce(sum(s.n_dead_tup), 0)::float8 as dead,
  not current_setting('autovacuum')::boolean
    or coalesce(bool_or(array_to_string(c.reloptions, ',') ~* '(^|,)autovacuum_enabled=(false|off|no|0)'), false) as "autovacuumIsOff",
  coalesce(bool_and(array_to_string(c.reloptions, ',') ~ '(^|,)autovacuum_vacuum_(scale_factor|threshold)='), false) as "hasVacuumSettings"
from stored join pg_class c on c.oid = stored.relid left join pg_stat_all_tables s on s.relid = c.oid`;

const INDEXES_SQL = `select c.relname as name, i.indisvalid as "isValid",
  (pg_relation_size(c.oid) / current_setting('block_size')::int)::float8 as pages
from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = to_regclass($1) order by 1`;

const CONSTRAINTS_SQL = `select conname as name, convalidated as "isValid" from pg_constraint where conrelid = to_regclass($1) and contype = 'c' order by 1`;

export async function readFacts(table: ResolvedWorkTable, ask: Examination['ask']): Promise<Facts> {
  const target = [table.table.quoted];
  const [facts] = await ask<Omit<Facts, 'claimIndex' | 'indexes' | 'constraints'>>(FACTS_SQL, target);
  if (facts === undefined) throw new TypeError('an aggregate has one row');
  const indexes = await ask<IndexFacts>(INDEXES_SQL, target);
  const constraints = await ask<{ name: string; isValid: boolean }>(CONSTRAINTS_SQL, target);
  const { name } = claimIndex(table);
  return { ...facts, indexes, constraints, claimIndex: indexes.find((index) => index.name === name) ?? null };
}

/** Whether a name is one that Leasehold gives for this purpose, of whichever definition. */
export function isNamedFor(table: ResolvedWorkTable, purpose: Purpose, name: string): boolean {
  const prefix = objectNamePrefix(table.table.name, purpose);
  return name.startsWith(prefix) && /^[0-9a-f]{8}$/.test(name.slice(prefix.length));
}
