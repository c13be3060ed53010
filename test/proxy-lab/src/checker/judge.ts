import { ClockMap } from '../../../lab/src/checker/clock-map.ts';
import { databaseTerms } from '../../../lab/src/checker/database-terms.ts';
import type { ClockSample, LeaseChange, Violation } from '../../../lab/src/checker/history.ts';
import type { Outcome } from '../client/outcome.ts';
import { findFalselyComplete, findSilentFailures, findSpoiltUploads, findStrangeAnswers } from './answers.ts';
import { checkExecutions, type ExecutionVerdict } from './executions.ts';
import { findHangs } from './hangs.ts';
import { findRunsOfNonHolders } from './non-holders.ts';
import type { Run } from './run.ts';
import type { Span } from '../stalls.ts';

/** What was done to one instance. */
interface Fate {
  readonly instance: string;
  /** When it was killed, or told to stop; Infinity for one that lived. */
  readonly endedFrom: number;
}

/** All that is known of a run under load. */
export interface LoadHistory {
  readonly outcomes: readonly Outcome[];
  readonly runs: readonly Run[];
  readonly fates: readonly Fate[];
  readonly changes: readonly LeaseChange[];
  readonly clock: readonly ClockSample[];
  /** When each instance did not run, and when the clients did not. */
  readonly stalls: ReadonlyMap<string, readonly Span[]>;
  readonly ownStalls: readonly Span[];
  /** The longest that a head may take, in milliseconds. */
  readonly headMs: number;
}

export interface Verdict extends ExecutionVerdict {
  readonly hangs: readonly Violation[];
  readonly falselyComplete: readonly Violation[];
  readonly spoilt: readonly Violation[];
  readonly strange: readonly Violation[];
  readonly silent: readonly Violation[];
  readonly ofNonHolders: readonly Violation[];
}

/** Judges what happened. A pure function: the same history gets the same verdict. */
export function judge({ outcomes, runs, fates, changes, clock, headMs, stalls, ownStalls }: LoadHistory): Verdict {
  const endedFrom = new Map(fates.map((fate) => [fate.instance, fate.endedFrom]));
  const hasEnded = (instance: string | null, at: number): boolean => (endedFrom.get(instance ?? '') ?? Infinity) <= at;
  const terms = [...databaseTerms(changes).values()].flat();
  return {
    ...checkExecutions(outcomes, runs),
    hangs: findHangs(outcomes, { headMs, stalls, ownStalls }),
    // The kernel ends the connections of a killed process in order, as if such an answer were over: nobody can tell.
    falselyComplete: findFalselyComplete(
      outcomes,
      ({ endsWithConnection, by, endedAt }) => !(endsWithConnection && hasEnded(by, endedAt)),
    ),
    spoilt: findSpoiltUploads(outcomes),
    strange: findStrangeAnswers(outcomes),
    silent: findSilentFailures(outcomes, ({ entry, endedAt }) => hasEnded(entry, endedAt)),
    ofNonHolders: findRunsOfNonHolders(runs, terms, new ClockMap(clock)),
  };
}

export function allViolations(verdict: Verdict): Violation[] {
  return Object.values(verdict as unknown as Record<string, readonly Violation[]>).flat();
}
