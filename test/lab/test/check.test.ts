import { expect, test } from 'vitest';
import { allViolations, check } from '../src/checker/check.ts';
import type { History, WorkerLog } from '../src/checker/history.ts';
import { belief, change, fault, write } from './support/evidence.ts';

const US = 1_000;

function log(instance: string, token: number, [first, last]: readonly [number, number]): WorkerLog {
  const event = (kind: 'gain' | 'loss', at: number) => ({
    kind,
    role: 'r',
    token,
    at: at * US,
    reason: kind === 'loss' ? 'LEASEHOLD_TERM_EXPIRED' : null,
  });
  return {
    instance,
    ended: true,
    beliefs: [belief(instance, token, [first, last])],
    events: [event('gain', first), event('loss', last)],
    refused: { all: 0, late: 0 },
    wrong: [],
  };
}

const logOfA = log('a', 1, [0, 1_000]);
const logOfB = log('b', 2, [3_000, 4_000]);
const ofA = change({ holder: 'a', token: 1, at: 0, expiresAt: 2_900 });

/** One takeover, after a crash. */
const good: History = {
  leaseMs: 2_000,
  logs: [logOfA, logOfB],
  changes: [ofA, change({ holder: 'b', token: 2, at: 2_950, expiresAt: 4_950 })],
  recorded: [{ role: 'r', token: 1, holder: 'a', acquiredAt: 0, endedAt: 2_900 * US }],
  writes: [write('a', 1, [10, 20]), write('b', 2, [3_010, 3_020])],
  faults: [fault({ of: 'all' }, [900, 950]), fault({ of: 'instances', instances: ['b'] }, [3_900, 4_000])],
  clock: [{ from: 0, to: 0, database: 0 }],
  contests: [{ instance: 'b', missed: [] }],
  watchedUntil: 4_000 * US,
};

test('a good history has nothing against it', () => {
  const verdict = check(good);
  expect(allViolations(verdict)).toEqual([]);
  expect({ terms: verdict.terms, takeovers: verdict.takeovers.count }).toEqual({ terms: 2, takeovers: 1 });
});

test.each<[string, Partial<History>]>([
  ['term overlap', { changes: [ofA, change({ holder: 'b', token: 2, at: 2_800, expiresAt: 4_800 })] }],
  ['belief overlap', { logs: [log('a', 1, [0, 3_100]), logOfB] }],
  ['late belief', { logs: [log('a', 1, [0, 2_990]), logOfB] }],
  ['token order', { changes: [ofA, change({ holder: 'b', token: 1, at: 2_950, expiresAt: 4_950 })] }],
  ['stale fenced write', { writes: [write('a', 1, [2_800, 2_960])] }],
  ['takeover', { watchedUntil: 10_000 * US }],
  ['competing', { contests: [{ instance: 'b', missed: ['r'] }] }],
  ['gain and loss', { logs: [{ ...logOfA, events: [] }, logOfB] }],
  ['unprovoked loss', { faults: [] }],
  ['recorded terms', { recorded: [] }],
  ['process', { logs: [{ ...logOfA, wrong: ['held again'] }, logOfB] }],
])('%s: a history that breaks it is found', (name, broken) => {
  expect(allViolations(check({ ...good, ...broken })).map((violation) => violation.check)).toContain(name);
});
