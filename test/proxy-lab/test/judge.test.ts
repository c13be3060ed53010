import { describe, expect, test } from 'vitest';
import { allViolations, judge, type LoadHistory } from '../src/checker/judge.ts';
import type { Outcome } from '../src/client/outcome.ts';
import { good, outcome, refusal, run } from './support/history.ts';

function checksOf(history: Partial<LoadHistory>): string[] {
  return allViolations(judge({ ...good, ...history })).map(({ check }) => check);
}

test('a good history has nothing against it', () => {
  expect(checksOf({})).toEqual([]);
});

describe('a history that is wrong is found', () => {
  test.each<[string, string, Partial<LoadHistory>]>([
    ['one instance executed it twice', 'doubled', { runs: [run('1'), run('1')] }],
    ['two instances executed it', 'doubled', { runs: [run('1'), run('1', { instance: 'b', token: 2 })] }],
    ['nobody executed what was answered', 'missing', { runs: [] }],
    ['another one executed it than says so', 'missing', { runs: [run('1', { instance: 'b', token: 2 })] }],
    ['it was refused and executed', 'refused and run', { runs: [run('1'), run('2')] }],
    ['what was executed was never sent', 'stray', { runs: [run('1'), run('smuggled')] }],
    ['it was executed after the term', 'run of a non-holder', { runs: [run('1', { at: 2_010_000 })] }],
    ['it was executed by who held nothing', 'run of a non-holder', { runs: [run('1', { token: null })] }],
    ['it was executed under the term of another', 'run of a non-holder', { runs: [run('1', { token: 2 })] }],
  ])('%s', (_, check, history) => {
    expect(checksOf(history)).toContain(check);
  });

  test.each<[string, string, Partial<Outcome>]>([
    ['a part that looked whole', 'falsely complete', { isWhole: false }],
    ['another body than was sent', 'spoilt upload', { uploadIsWhole: false }],
    ['an answer of neither', 'strange answer', { by: null, status: 502 }],
    ['a 503 without Retry-After', 'strange answer', { by: null, status: 503 }],
    ['a 503 that says to try again at once', 'strange answer', { by: null, status: 503, retryAfter: '0' }],
    ['a 503 that gives a date', 'strange answer', { by: null, status: 503, retryAfter: 'Mon, 30 Nov 2026 00:00:00 GMT' }],
    ['a holder that failed', 'strange answer', { status: 500 }],
    ['a connection that just ended', 'silent failure', { kind: 'failed', status: null, by: null, headAt: null }],
    ['a head that took a second more than it may', 'hang', { headAt: 5_001_000, endedAt: 5_002_000 }],
    ['a body that took a second more than planned', 'hang', { endedAt: 2_100_000 }],
    ['no answer at all', 'hang', { kind: 'hanging', status: null, by: null, headAt: null }],
  ])('%s', (_, check, more) => {
    expect(checksOf({ outcomes: [outcome('1', more)] })).toContain(check);
  });
});

describe('what cannot be helped is not held against anybody', () => {
  const dead = { instance: 'a', endedFrom: 1_015_000 };
  const stalls = new Map([['a', [{ from: 1_010_000, to: 3_000_000 }]]]);

  test('an answer that its connection ends, of a process that was killed', () => {
    const outcomes = [outcome('1', { isWhole: false, endsWithConnection: true })];
    expect(checksOf({ outcomes, fates: [dead] })).toEqual([]);
    expect(checksOf({ outcomes })).toEqual(['falsely complete']);
    expect(checksOf({ outcomes: [outcome('1', { isWhole: false })], fates: [dead] })).toEqual(['falsely complete']);
  });

  test('a connection to a process that was killed', () => {
    const failed = { kind: 'failed', entry: 'a', status: null, by: null, headAt: null } as const;
    expect(checksOf({ outcomes: [outcome('1', failed)], fates: [dead] })).toEqual([]);
    expect(checksOf({ outcomes: [outcome('1', { ...failed, entry: 'gateway' })], fates: [dead] })).toEqual(['silent failure']);
  });

  test('a body that rests while its holder does not run, and a client of who does not', () => {
    expect(checksOf({ outcomes: [outcome('1', { endedAt: 3_000_000 })], stalls })).toEqual([]);
    const late = { entry: 'a', startedAt: 0, headAt: 5_500_000, endedAt: 5_500_000 };
    expect(checksOf({ outcomes: [outcome('1', late)], stalls })).toEqual([]);
    expect(checksOf({ outcomes: [outcome('1', { ...late, entry: 'gateway' })], stalls })).toEqual(['hang']);
  });

  test('what the clients did not see because they did not run, counted once', () => {
    const late = { startedAt: 0, headAt: 5_500_000, endedAt: 5_500_000 };
    const ownStalls = [
      { from: 1_000_000, to: 2_000_000 },
      { from: 1_200_000, to: 2_200_000 },
    ];
    expect(checksOf({ outcomes: [outcome('1', late)], ownStalls: [{ from: 1_000_000, to: 3_000_000 }] })).toEqual([]);
    expect(checksOf({ outcomes: [outcome('1', late)], ownStalls })).toEqual(['hang']);
  });

  test('a run that is refused as one that may have been', () => {
    expect(checksOf({ outcomes: [refusal('1', { reason: 'outcome-unknown' })] })).toEqual([]);
  });

  test('what the comparison of the clocks leaves open', () => {
    expect(checksOf({ runs: [run('1', { at: 2_005_000 })], clock: [{ from: 0, to: 10_000, database: 0 }] })).toEqual([]);
  });
});
