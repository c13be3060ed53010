import { expect, test } from 'vitest';
import { ClockMap } from '../../lab/src/checker/clock-map.ts';
import type { StruckFault } from '../../lab/src/checker/history.ts';
import type { Lease } from '../src/checker/history.ts';
import { judgeTakeovers } from '../src/checker/takeovers.ts';
import { B, lease } from './support/evidence.ts';

const clock = new ClockMap([{ from: 0, to: 0, database: 0 }]);
const kill: StruckFault = { kind: 'kill', reach: { of: 'instances', instances: ['worker of a'] }, from: 1_000_000, to: Infinity };
const killed = lease(0, 3_000);

/** The killed row, claimed anew at this time. */
function next(at: number): Lease {
  return lease(at, at + 3_000, { token: B, by: 'worker of b', due: 3_000_000, end: 'finished' });
}

function judge(leases: readonly Lease[], more: readonly StruckFault[] = []): ReturnType<typeof judgeTakeovers> {
  return judgeTakeovers({ leases, faults: [kill, ...more], clock });
}

/** A claim of another row, at a time, that had been due since another. */
const claim = (row: string, at: number, due: number): Lease => lease(at, at + 1, { row, token: B, by: 'b', due: due * 1_000 });

test('from the kill to the claim', () => {
  const { count, worstMs, worstInAllMs } = judge([killed, next(3_400)]);
  expect(count).toBe(1);
  expect([worstMs, worstInAllMs].map((ms) => Math.round(ms / 100))).toEqual([24, 24]);
});

test('less the time in which rows were claimed that had been due for longer', () => {
  const { worstMs, worstInAllMs } = judge([killed, claim('2', 5_000, 10), next(5_100)]);
  expect([worstMs, worstInAllMs].map((ms) => Math.round(ms / 100))).toEqual([21, 41]);
});

test('with the time in which rows were claimed that had been due for less', () => {
  expect(Math.round(judge([killed, claim('2', 5_000, 4_000), next(5_100)]).worstMs / 100)).toBe(41);
});

test.each<[string, StruckFault['reach'], number]>([
  ['a fault of the database', { of: 'all' }, 30],
  ['a lock on the row', { of: 'roles', roles: ['1'] }, 30],
  ['a lock on another row', { of: 'roles', roles: ['2'] }, 41],
])('%s', (_, reach, hundreds) => {
  const fault: StruckFault = { kind: 'test', reach, from: 4_000_000, to: 5_100_000 };
  expect(Math.round(judge([killed, next(5_100)], [fault]).worstMs / 100)).toBe(hundreds);
});

test('what was taken over before the kill, or from one that was not killed, does not count', () => {
  const early = { ...kill, from: 9_000_000 };
  expect(judgeTakeovers({ leases: [killed, next(3_400)], faults: [early], clock }).count).toBe(0);
  expect(judgeTakeovers({ leases: [killed, next(3_400)], faults: [], clock }).count).toBe(0);
});
