import { groupBy } from './group.ts';
import type { DatabaseTerm, LeaseChange } from './history.ts';

interface OpenTerm {
  readonly term: Omit<DatabaseTerm, 'until'>;
  until: number;
  open: boolean;
}

/** Folds the versions of each row, in the order they came about, into terms; by role, in that order. */
export function databaseTerms(changes: readonly LeaseChange[]): Map<string, DatabaseTerm[]> {
  const terms = new Map<string, DatabaseTerm[]>();
  for (const [role, ofRole] of groupBy(changes, (change) => change.role)) terms.set(role, foldRole(ofRole));
  return terms;
}

function foldRole(changes: readonly LeaseChange[]): DatabaseTerm[] {
  const terms: OpenTerm[] = [];
  for (const change of changes) {
    const current = terms.at(-1);
    if (change.holder === null) {
      if (current !== undefined) close(current, change.at);
    } else if (current !== undefined && isOf(current, change)) {
      current.until = Math.max(current.until, change.expiresAt);
    } else {
      const { role, token, holder, acquiredAt } = change;
      terms.push({ term: { role, token, holder, acquiredAt }, until: change.expiresAt, open: true });
    }
  }
  return terms.map(({ term, until }) => ({ ...term, until }));
}

/** A renewal. Whoever takes a row, its own too, begins a term, whether or not it gives it a token of its own. */
function isOf({ open, term }: OpenTerm, change: LeaseChange): boolean {
  return open && term.token === change.token && term.holder === change.holder && term.acquiredAt === change.acquiredAt;
}

/** A release ends a term now; a lease that had run out before stays as it was. */
function close(current: OpenTerm, at: number): void {
  if (current.open) current.until = Math.min(current.until, at);
  current.open = false;
}
