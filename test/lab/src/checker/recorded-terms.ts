import type { DatabaseTerm, RecordedTerm, Violation } from './history.ts';

/** Leasehold's own history has one row for each term that was followed by another, with its holder and its times. */
export function findRecordingErrors(
  recorded: readonly RecordedTerm[],
  terms: ReadonlyMap<string, readonly DatabaseTerm[]>,
): Violation[] {
  const byTerm = new Map(recorded.map((row) => [keyOf(row), row]));
  return [...terms.values()].flatMap((ofRole) =>
    ofRole.flatMap((term, index) => compare(term, byTerm.get(keyOf(term)), ofRole[index + 1])),
  );
}

function keyOf({ role, token }: { readonly role: string; readonly token: number }): string {
  return `${role} ${token}`;
}

function compare(term: DatabaseTerm, row: RecordedTerm | undefined, next: DatabaseTerm | undefined): Violation[] {
  if (next === undefined) return [];
  if (row === undefined) return [violation(term, 'is missing')];
  if (row.holder !== term.holder) return [violation(term, `names ${row.holder} as the holder`)];
  if (row.acquiredAt !== term.acquiredAt) return [violation(term, 'begins at another time than the term')];
  if (row.endedAt > next.acquiredAt) return [violation(term, `ends after token ${next.token} begins`)];
  return [];
}

function violation({ role, token, holder }: DatabaseTerm, why: string): Violation {
  return { check: 'recorded terms', what: `${role}: the record of token ${token} of ${holder} ${why}` };
}
