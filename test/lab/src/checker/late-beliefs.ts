import type { ClockMap } from './clock-map.ts';
import { groupBy, ms } from './group.ts';
import type { Belief, DatabaseTerm, Violation } from './history.ts';

/**
 * Nobody was told that it holds after another instance's term had begun by the database's clock. It closes the gap that
 * the comparison of beliefs leaves: a successor that has the row and has not looked yet.
 */
export function findLateBeliefs(
  beliefs: readonly Belief[],
  terms: ReadonlyMap<string, readonly DatabaseTerm[]>,
  clock: ClockMap,
): Violation[] {
  const byRole = groupBy(beliefs, ({ role }) => role);
  return [...byRole].flatMap(([role, ofRole]) => {
    const termsOfRole = terms.get(role) ?? [];
    return ofRole.flatMap((belief) => late(belief, successorOf(belief, termsOfRole), clock));
  });
}

/** The first later term that another instance got. */
function successorOf({ token, instance }: Belief, terms: readonly DatabaseTerm[]): DatabaseTerm | undefined {
  return terms.find((term) => term.token > token && term.holder !== instance);
}

function late(belief: Belief, successor: DatabaseTerm | undefined, clock: ClockMap): Violation[] {
  if (successor === undefined) return [];
  const lateBy = belief.last.from - clock.toMonotonic(successor.acquiredAt).to;
  if (lateBy <= 0) return [];
  const what =
    `${belief.role}: ${belief.instance} was told that it holds (token ${belief.token}) ${ms(lateBy)} after ` +
    `${successor.holder} had taken token ${successor.token}`;
  return [{ check: 'late belief', what }];
}
