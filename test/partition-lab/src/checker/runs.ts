import type { ClockMap } from '../../../lab/src/checker/clock-map.ts';
import { groupBy, ms } from '../../../lab/src/checker/group.ts';
import type { DatabaseTerm, Violation } from '../../../lab/src/checker/history.ts';
import type { Outcome, Run } from './history.ts';

/**
 * Nobody executes for a key without owning it, by the database's clock: a run names a term of its own instance for the role of
 * the key, and begins before that term is surely over. What the comparison of the clocks leaves open is nobody's fault.
 */
export function findRunsOfNonOwners(
  runs: readonly Run[],
  terms: ReadonlyMap<string, readonly DatabaseTerm[]>,
  clock: ClockMap,
): Violation[] {
  const byToken = new Map([...terms.values()].flat().map((term) => [nameOf(term.role, term.holder, term.token), term]));
  return runs.flatMap((run) => judge(run, byToken.get(nameOf(run.role, run.instance, run.token)), clock));
}

function nameOf(role: string, holder: string, token: number | null): string {
  return `${role} ${holder} ${token}`;
}

function judge({ id, role, instance, token, at }: Run, term: DatabaseTerm | undefined, clock: ClockMap): Violation[] {
  const check = 'run of a non-owner';
  if (term === undefined)
    return [{ check, what: `${instance} executed ${id} under no term of its own of ${role} (token ${token})` }];
  const lateBy = at - clock.toMonotonic(term.until).to;
  return lateBy <= 0
    ? []
    : [{ check, what: `${instance} executed ${id} ${ms(lateBy)} after its term ${token} of ${role} was over` }];
}

/** What was executed more than once, on one instance or on two. */
export function findDoubledRuns(runs: readonly Run[]): Violation[] {
  const doubled = [...groupBy(runs, ({ id }) => id)].filter(([, ofId]) => ofId.length > 1);
  return doubled.map(([id, ofId]) => ({
    check: 'executed twice',
    what: `${id} was executed by ${ofId.map(({ instance }) => instance).join(' and ')}`,
  }));
}

/** Answers in the name of an instance that did not execute the request. */
export function findAnswersWithoutRun(outcomes: readonly Outcome[], runs: readonly Run[]): Violation[] {
  const executed = new Set(runs.map(({ id, instance }) => `${id} ${instance}`));
  const without = outcomes.filter(({ id, by }) => by !== null && !executed.has(`${id} ${by}`));
  return without.map(({ id, by }) => ({ check: 'answer without a run', what: `${by} answered ${id} and did not execute it` }));
}
