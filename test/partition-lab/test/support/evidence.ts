import type { DatabaseTerm } from '../../../lab/src/checker/history.ts';
import type { Epoch, Handover, MemberChange, Outcome, Run, Turn } from '../../src/checker/history.ts';

export const MS = 1_000;
/** A heartbeat each second makes epochs and handovers easy to read. */
const BEAT = 1_000_000;

export const ROLES = ['r0', 'r1', 'r2', 'r3'] as const;
export const RULES = { roles: ROLES, heartbeatMs: 1_000, mostHeartbeats: 8 };

export function epoch(from: number, to: number, ...members: string[]): Epoch {
  return { from: from * BEAT, to: to * BEAT, members };
}

/** Such as `at(3, 'taken', 'r1', 'a')`. */
export function at(time: number, kind: Handover['kind'], role: string, holder: string): Handover {
  return { kind, role, holder, at: time * BEAT };
}

/** All roles, as they were taken at the beginning. */
export function held(...holders: string[]): Handover[] {
  return holders.map((holder, place) => at(0, 'taken', `r${place}`, holder));
}

export function beat(instance: string, time: number, more: Partial<MemberChange> = {}): MemberChange {
  return { instance, at: time, until: time + 20, roles: 4, draining: false, ...more };
}

export function turn(holder: string, [writtenAt, committedAt]: readonly [number, number], more: Partial<Turn> = {}): Turn {
  return { key: 'k', role: 'r0', token: 1, holder, writtenAt, committedAt, late: false, ...more };
}

export function term(role: string, holder: string, [acquiredAt, until]: readonly [number, number], token = 1): DatabaseTerm {
  return { role, token, holder, acquiredAt, until };
}

export function termsOf(...terms: DatabaseTerm[]): Map<string, DatabaseTerm[]> {
  return Map.groupBy(terms, ({ role }) => role);
}

export function run(id: string, more: Partial<Run> = {}): Run {
  return { id, role: 'r0', instance: 'a', at: 1_000, token: 1, ...more };
}

/** Answered by `a`; times in milliseconds. */
export function outcome(startedAt: number, endedAt: number, more: Partial<Outcome> = {}): Outcome {
  const times = { startedAt: startedAt * MS, endedAt: endedAt * MS };
  return { id: `at ${startedAt}`, key: 'k', ...times, status: 200, by: 'a', isRetry: false, ...more };
}

export function refusal(startedAt: number, endedAt: number, more: Partial<Outcome> = {}): Outcome {
  return outcome(startedAt, endedAt, { status: 503, by: null, ...more });
}
