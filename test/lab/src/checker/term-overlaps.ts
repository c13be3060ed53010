import { ms, pairs } from './group.ts';
import type { DatabaseTerm, Violation } from './history.ts';

/** No term begins, by the database's clock, while that of another instance has time left. */
export function findTermOverlaps(terms: ReadonlyMap<string, readonly DatabaseTerm[]>): Violation[] {
  return [...terms.values()].flatMap((ofRole) => [...pairs(ofRole)].flatMap(([one, next]) => overlap(one, next)));
}

/** An instance may take its own row anew, after a lost reply: it is one holder all the time. */
function overlap(one: DatabaseTerm, next: DatabaseTerm): Violation[] {
  if (one.holder === next.holder || next.acquiredAt >= one.until) return [];
  const what =
    `${one.role}: ${next.holder} took token ${next.token} ${ms(one.until - next.acquiredAt)} before ` +
    `token ${one.token} of ${one.holder} was over, by the database's clock`;
  return [{ check: 'term overlap', what }];
}
