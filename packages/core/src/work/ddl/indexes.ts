import { quoteIdentifier } from '../../postgres/identifier.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { objectName } from './object-name.ts';

export interface WorkIndex {
  readonly name: string;
  /** What follows the table in `create index`. */
  readonly definition: string;
}

/**
 * The due order. Leased rows and those that wait for a retry are due later than now, and so lie behind every scan for due
 * rows, however many they are. Groups and priorities are asked for one value at a time, and stand first.
 */
export function claimIndex(table: ResolvedWorkTable): WorkIndex {
  const leading = [...table.groupBy, ...(table.priority === null ? [] : [table.priority.column])];
  const keys = [...leading.map(quoteIdentifier), table.due, ...table.id.map(quoteIdentifier)];
  const definition = `(${keys.join(', ')}) where (${oneLine(table.live)})`;
  return { name: objectName(table.table, 'claim', definition), definition };
}

/** Every row that the claim index leaves out: one whose `live` is unknown, as NULL makes it, is no live row either. */
export function purgeIndex(table: ResolvedWorkTable, column: string): WorkIndex {
  const definition = `(${quoteIdentifier(column)}) where ${finished(table)}`;
  return { name: objectName(table.table, 'purge', definition), definition };
}

/** The complement of `live`, in the very words of the purge index, by which the planner knows it. */
export function finished(table: ResolvedWorkTable): string {
  return `(${oneLine(table.live)}) is not true`;
}

/** Another layout of the same text is no other definition, unless the space may be within quotes. */
function oneLine(live: string): string {
  return /['"$]/.test(live) ? live : live.replaceAll(/\s+/g, ' ');
}
