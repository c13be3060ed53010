import type { ClockMap } from '../../../lab/src/checker/clock-map.ts';
import { ms } from '../../../lab/src/checker/group.ts';
import type { DatabaseTerm, Violation } from '../../../lab/src/checker/history.ts';
import type { Run } from './run.ts';

/**
 * Nobody executes without holding, by the database's clock: a run names a term of its own instance, and begins before
 * that term is surely over. What the comparison of the clocks leaves open is not held against anybody.
 */
export function findRunsOfNonHolders(runs: readonly Run[], terms: readonly DatabaseTerm[], clock: ClockMap): Violation[] {
  const byToken = new Map(terms.map((term) => [`${term.holder} ${term.token}`, term]));
  return runs.flatMap((run) => judge(run, byToken.get(`${run.instance} ${run.token}`), clock));
}

function judge({ id, instance, token, at }: Run, term: DatabaseTerm | undefined, clock: ClockMap): Violation[] {
  if (term === undefined) return [violation(`${instance} executed ${id} under no term of its own (token ${token})`)];
  const lateBy = at - clock.toMonotonic(term.until).to;
  if (lateBy <= 0) return [];
  return [violation(`${instance} executed ${id} ${ms(lateBy)} after its term ${token} was over`)];
}

function violation(what: string): Violation {
  return { check: 'run of a non-holder', what };
}
