import { pairs } from '../../../lab/src/checker/group.ts';
import type { DatabaseTerm } from '../../../lab/src/checker/history.ts';

export interface Vacancies {
  /** The longest time between two terms of a role, in milliseconds: where the first was given back by one that went, … */
  readonly afterStop: number;
  /** … by one that stayed, … */
  readonly afterHandOver: number;
  /** … or ran out. */
  readonly afterExpiry: number;
}

/** How long roles were nobody's, by the database's clock, told apart by how they came to be so. */
export function vacanciesOf(
  terms: ReadonlyMap<string, readonly DatabaseTerm[]>,
  isReleased: (term: DatabaseTerm) => boolean,
  stopped: ReadonlySet<string>,
): Vacancies {
  const longest = { afterStop: 0, afterHandOver: 0, afterExpiry: 0 };
  const lastOf = new Map<string, number>();
  for (const ofRole of terms.values()) for (const { holder, until } of ofRole) keepHighest(lastOf, holder, until);
  for (const ofRole of terms.values()) {
    for (const [one, next] of pairs(ofRole)) {
      const kind = !isReleased(one) ? 'afterExpiry' : isLast(one) ? 'afterStop' : 'afterHandOver';
      longest[kind] = Math.max(longest[kind], (next.acquiredAt - one.until) / 1_000);
    }
  }
  return longest;

  /** Given back when it went: an instance that stops gives back all at once. */
  function isLast({ holder, until }: DatabaseTerm): boolean {
    return stopped.has(holder) && (lastOf.get(holder) ?? 0) - until < TOGETHER_US;
  }
}

const TOGETHER_US = 500_000;

function keepHighest(highest: Map<string, number>, key: string, value: number): void {
  highest.set(key, Math.max(highest.get(key) ?? 0, value));
}
