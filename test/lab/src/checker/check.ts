import { findBeliefOverlaps } from './belief-overlaps.ts';
import { ClockMap } from './clock-map.ts';
import { findStopped } from './competing.ts';
import { databaseTerms } from './database-terms.ts';
import type { History, Violation } from './history.ts';
import { findLateBeliefs } from './late-beliefs.ts';
import { findUnannounced, findUnpaired } from './pairing.ts';
import { findRecordingErrors } from './recorded-terms.ts';
import { findStaleWrites } from './stale-writes.ts';
import { checkTakeovers, type TakeoverResult } from './takeovers.ts';
import { findTermOverlaps } from './term-overlaps.ts';
import { findTokenDisorder } from './tokens.ts';
import { findUnprovoked } from './unprovoked.ts';

export interface Verdict {
  /** Two holders at a time: by the database's clock, by the machine's, or one by each. */
  readonly overlaps: readonly Violation[];
  readonly tokenDisorder: readonly Violation[];
  readonly staleWrites: readonly Violation[];
  readonly takeovers: TakeoverResult;
  readonly stopped: readonly Violation[];
  readonly unpaired: readonly Violation[];
  readonly unprovoked: readonly Violation[];
  readonly recordingErrors: readonly Violation[];
  /** Broken within one process: held again after its loss, a signal that was not aborted. */
  readonly wrong: readonly Violation[];
  readonly terms: number;
}

/** Judges what happened. A pure function: the same history gets the same verdict. */
export function check(history: History): Verdict {
  const { logs, writes, recorded, faults, leaseMs, watchedUntil } = history;
  const beliefs = logs.flatMap((log) => log.beliefs);
  const terms = databaseTerms(history.changes);
  const clock = new ClockMap(history.clock);
  return {
    overlaps: [...findTermOverlaps(terms), ...findBeliefOverlaps(beliefs), ...findLateBeliefs(beliefs, terms, clock)],
    tokenDisorder: findTokenDisorder(terms),
    staleWrites: findStaleWrites(writes, terms),
    takeovers: checkTakeovers({ beliefs, terms, faults, clock, leaseMs, watchedUntil }),
    stopped: findStopped(history.contests),
    unpaired: logs.flatMap((log) => [...findUnpaired(log), ...findUnannounced(log)]),
    unprovoked: logs.flatMap((log) => findUnprovoked(log, faults, leaseMs)),
    recordingErrors: findRecordingErrors(recorded, terms),
    wrong: logs.flatMap(({ instance, wrong }) => wrong.map((what) => ({ check: 'process', what: `${instance}: ${what}` }))),
    terms: [...terms.values()].reduce((count, ofRole) => count + ofRole.length, 0),
  };
}

export function allViolations(verdict: Verdict): readonly Violation[] {
  return [
    ...verdict.overlaps,
    ...verdict.tokenDisorder,
    ...verdict.staleWrites,
    ...verdict.takeovers.violations,
    ...verdict.stopped,
    ...verdict.unpaired,
    ...verdict.unprovoked,
    ...verdict.recordingErrors,
    ...verdict.wrong,
  ];
}
