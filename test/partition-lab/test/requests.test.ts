import { describe, expect, test } from 'vitest';
import { ClockMap } from '../../lab/src/checker/clock-map.ts';
import { outagesOf } from '../src/checker/outages.ts';
import { findAnswersWithoutRun, findDoubledRuns, findRunsOfNonOwners } from '../src/checker/runs.ts';
import { MS, outcome, refusal, run, term, termsOf } from './support/evidence.ts';

describe('runs of non-owners', () => {
  /** The database's clock is the machine's, within 10 µs. */
  const clock = new ClockMap([{ from: 0, to: 10, database: 0 }]);
  const terms = termsOf(term('r0', 'a', [0, 5_000]), term('r1', 'b', [0, 5_000]));

  test('within a term of its own is right', () => {
    expect(findRunsOfNonOwners([run('1'), run('2', { role: 'r1', instance: 'b' })], terms, clock)).toEqual([]);
  });

  test('what the comparison of the clocks leaves open is nobody’s fault', () => {
    expect(findRunsOfNonOwners([run('1', { at: 5_005 })], terms, clock)).toEqual([]);
  });

  test.each([
    ['after the term', { at: 6_000 }, 'after its term 1 of r0 was over'],
    ['without a term', { token: null }, 'under no term of its own'],
    ['under the term of another', { instance: 'b' }, 'under no term of its own'],
    ['for a key of another role', { role: 'r1' }, 'under no term of its own'],
  ])('%s is found', (_, more, why) => {
    const found = findRunsOfNonOwners([run('1', more)], terms, clock);
    expect(found).toEqual([{ check: 'run of a non-owner', what: expect.stringContaining(why) }]);
  });
});

describe('executions', () => {
  test('once each is right', () => {
    expect(findDoubledRuns([run('1'), run('2')])).toEqual([]);
  });

  test.each([
    ['by one', 'a'],
    ['by two', 'b'],
  ])('twice %s is found', (_, instance) => {
    expect(findDoubledRuns([run('1'), run('1', { instance })])).toHaveLength(1);
  });

  test('an answer of one that did not execute is found', () => {
    const outcomes = [outcome(0, 1, { id: '1' }), outcome(1, 2, { id: '2' }), outcome(2, 3, { id: '3', by: 'b' }), refusal(3, 4)];
    const found = findAnswersWithoutRun(outcomes, [run('1'), run('3')]);
    expect(found.map(({ what }) => what)).toEqual([
      expect.stringContaining('answered 2'),
      expect.stringContaining('b answered 3'),
    ]);
  });
});

describe('outages of a key', () => {
  test('none without a refusal', () => {
    expect(outagesOf([outcome(0, 10), outcome(500, 510)])).toEqual([]);
  });

  test('from the sending of the first refused to the next answer of an owner', () => {
    const outcomes = [
      outcome(0, 10),
      refusal(100, 105),
      refusal(150, 155),
      outcome(200, 210),
      refusal(300, 301),
      outcome(320, 330),
    ];
    expect(outagesOf(outcomes)).toEqual([
      { key: 'k', from: 100 * MS, ms: 110 },
      { key: 'k', from: 300 * MS, ms: 30 },
    ]);
  });

  test('no answer at all is a part of it', () => {
    expect(outagesOf([outcome(0, 10, { status: null, by: null }), outcome(50, 60)])).toMatchObject([{ ms: 60 }]);
  });

  test('an answer for another key does not end it', () => {
    expect(outagesOf([refusal(0, 5), outcome(10, 20, { key: 'other' }), outcome(80, 90)])).toMatchObject([{ key: 'k', ms: 90 }]);
  });

  test('one that does not end lasts until the last outcome', () => {
    expect(outagesOf([refusal(0, 5), refusal(400, 405)])).toMatchObject([{ ms: 405 }]);
  });
});
