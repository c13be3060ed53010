import { ms } from '../../../lab/src/checker/group.ts';
import type { DatabaseTerm, Violation } from '../../../lab/src/checker/history.ts';
import type { KeyMap } from './history.ts';

/**
 * No key has two owners at one time, where each instance knows by its own count which role a key belongs to. With two counts
 * the owners of a key can hold different roles, and each be right.
 */
export function findDoubleOwners(terms: ReadonlyMap<string, readonly DatabaseTerm[]>, maps: readonly KeyMap[]): Violation[] {
  const rolesOf = new Map(maps.map(({ instance, roles }) => [instance, roles]));
  const keys = new Set(maps.flatMap(({ roles }) => Object.keys(roles)));
  const all = [...terms.values()].flat();
  return [...keys].flatMap((key) =>
    doubleOwners(
      key,
      all.filter(({ holder, role }) => rolesOf.get(holder)?.[key] === role),
    ),
  );
}

function doubleOwners(key: string, terms: readonly DatabaseTerm[]): Violation[] {
  const lastOf = new Map<string, DatabaseTerm>();
  const violations: Violation[] = [];
  for (const term of [...terms].sort((a, b) => a.acquiredAt - b.acquiredAt)) {
    for (const [holder, last] of lastOf) {
      if (holder !== term.holder && last.until > term.acquiredAt) violations.push(double(key, last, term));
    }
    const last = lastOf.get(term.holder);
    if (last === undefined || last.until < term.until) lastOf.set(term.holder, term);
  }
  return violations;
}

function double(key: string, one: DatabaseTerm, next: DatabaseTerm): Violation {
  const what = `${key}: ${next.holder} owned it through ${next.role} ${ms(one.until - next.acquiredAt)} before ${one.holder} had ceased to through ${one.role}`;
  return { check: 'two owners of a key', what };
}
