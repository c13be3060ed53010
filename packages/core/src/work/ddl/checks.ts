import { quoteIdentifier } from '../../postgres/identifier.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { objectName } from './object-name.ts';

export interface Check {
  readonly name: string;
  readonly condition: string;
}

/**
 * What no row may be, since a claim would pass it by for ever, or for ever take it: without a sound, both. `not null` on the
 * columns says so already, until a migration takes it away under workers that run. All else is the application's to write:
 * it may clear a lease by hand, move a due time, or make a finished row live again.
 */
export function checks(table: ResolvedWorkTable): Check[] {
  const due = check(table, 'due', `${table.due} is not null`);
  if (table.attempts === null) return [due];
  const attempts = quoteIdentifier(table.attempts.column);
  // NULL counts for nothing, and NULL + 1 is NULL again: the attempts of such a row would never be used up.
  return [due, check(table, 'attempts', `${attempts} is not null and ${attempts} >= 0`)];
}

function check({ table }: ResolvedWorkTable, purpose: 'due' | 'attempts', condition: string): Check {
  return { name: objectName(table, purpose, condition), condition };
}
