import { idAliases, qualified } from '../names.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { empty, join, raw, type Sql, sql } from '../sql.ts';
import type { TableDescription } from '../table-description.ts';
import type { SettleItem } from './settle-item.ts';

export interface GivenIds {
  /** The columns of the id, of their types. */
  readonly ids: Sql;
  /** One array of texts for each of them. */
  readonly texts: Sql;
}

/** Rows that are given by their ids: what `leasehold_given` selects, from `unnest` of the arrays as `g`. */
export function givenIds(description: TableDescription, items: readonly Pick<SettleItem, 'ref'>[]): GivenIds {
  const { table } = description;
  const aliases = idAliases(table);
  const typed = table.id.map((column, index) => `g.${aliases[index]}::${description.column(column).type} as ${aliases[index]}`);
  const texts = table.id.map((_column, index) => sql`${items.map((item) => item.ref[index] ?? null)}::text[]`);
  return { ids: raw(typed.join(', ')), texts: join(texts) };
}

/** Of the first columns that `leasehold_given` selects. */
export function inOrderOfIds(table: ResolvedWorkTable): Sql {
  return raw(table.id.map((_column, index) => index + 1).join(', '));
}

/** Set before the first lock is waited for, since the ids come from here; gone with the transaction. */
export function limitWaits(lockTimeoutMs: number | null): Sql {
  if (lockTimeoutMs === null) return empty;
  return sql`, (select set_config('lock_timeout', ${String(lockTimeoutMs)}::text, true)) leasehold_limit`;
}

/** Without a word where none is given. */
export function isNotAmong(description: TableDescription, refs: readonly (readonly string[])[]): Sql[] {
  if (refs.length === 0) return [];
  const { table } = description;
  const { ids, texts } = givenIds(
    description,
    refs.map((ref) => ({ ref })),
  );
  const columns = raw(table.id.map((column) => qualified(table, column)).join(', '));
  return [sql`(${columns}) not in (select ${ids} from unnest(${texts}) as g (${raw(idAliases(table).join(', '))}))`];
}
