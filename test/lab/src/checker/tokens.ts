import { pairs } from './group.ts';
import type { DatabaseTerm, Violation } from './history.ts';

/** Every term has a higher token than the one before it. */
export function findTokenDisorder(terms: ReadonlyMap<string, readonly DatabaseTerm[]>): Violation[] {
  return [...terms.values()].flatMap((ofRole) => [...pairs(ofRole)].flatMap(([one, next]) => disorder(one, next)));
}

function disorder(one: DatabaseTerm, next: DatabaseTerm): Violation[] {
  if (next.token > one.token && next.acquiredAt > one.acquiredAt) return [];
  return [
    {
      check: 'token order',
      what: `${one.role}: token ${one.token} of ${one.holder} was followed by ${next.token} of ${next.holder}`,
    },
  ];
}
