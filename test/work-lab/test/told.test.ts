import { describe, expect, test } from 'vitest';
import { ClockMap } from '../../lab/src/checker/clock-map.ts';
import { findHalfDone } from '../src/checker/bookings.ts';
import type { Booked, LeaseEnd, Told } from '../src/checker/history.ts';
import { findLateLooks } from '../src/checker/late-looks.ts';
import { judgeTold } from '../src/checker/told.ts';
import { A, B, lease, leasesOf } from './support/evidence.ts';

function verdict(outcome: Told['outcome'], fate: Told['fate'], end: LeaseEnd): Record<string, number> {
  const { freedToldLost, ...lists } = judgeTold([{ row: '1', claim: A, by: 'a', outcome, fate }], leasesOf(lease(0, 1, { end })));
  const counts = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.length]));
  return Object.fromEntries(Object.entries({ ...counts, freedToldLost }).filter(([, count]) => count > 0));
}

describe('what a worker was told', () => {
  test.each<[Told['outcome'], Told['fate'], LeaseEnd]>([
    ['done', 'done', 'finished'],
    ['bury', 'done', 'buried'],
    ['retry', 'done', 'retried'],
    ['release', 'done', 'released'],
    ['done', 'lost', 'taken'],
    ['done', 'gone', 'deleted'],
    // Its own transaction had finished it.
    ['retry', 'lost', 'finished'],
  ])('%s, %s, where the row was %s: is right', (outcome, fate, end) => {
    expect(verdict(outcome, fate, end)).toEqual({});
  });

  test.each<[Told['outcome'], Told['fate'], LeaseEnd, string]>([
    ['done', 'done', 'taken', 'doneNotWritten'],
    ['done', 'done', 'open', 'doneNotWritten'],
    ['release', 'done', 'retried', 'doneNotWritten'],
    ['done', 'lost', 'finished', 'writtenToldLost'],
    ['bury', 'lost', 'buried', 'writtenToldLost'],
    ['retry', 'lost', 'retried', 'freedToldLost'],
    ['done', 'lost', 'open', 'lostForNothing'],
    ['done', 'gone', 'taken', 'goneButThere'],
  ])('%s, %s, where the row was %s: %s', (outcome, fate, end, found) => {
    expect(verdict(outcome, fate, end)).toEqual({ [found]: 1 });
  });

  test('of a row that it never had is found', () => {
    const told: Told = { row: '2', claim: A, by: 'a', outcome: 'done', fate: 'done' };
    expect(judgeTold([told], leasesOf(lease(0, 1))).doneNotWritten).toHaveLength(1);
  });
});

describe('transactions with a business row', () => {
  const finished = lease(0, 1, { end: 'finished', endVia: 'booking', endXid: '7' });
  const booking = { row: '1', claim: A, xid: '7' };
  const told = (end: Booked['end']): Booked[] => [{ row: '1', claim: A, by: 'a', end }];

  test('both, or neither, is right', () => {
    expect(findHalfDone([booking], leasesOf(finished), told('committed'))).toEqual([]);
    expect(findHalfDone([], leasesOf(lease(0, 1)), told('rolledBack'))).toEqual([]);
  });

  test('what nobody knows is right either way', () => {
    expect(findHalfDone([booking], leasesOf(finished), told('unknown'))).toEqual([]);
    expect(findHalfDone([], leasesOf(lease(0, 1)), told('unknown'))).toEqual([]);
  });

  test.each([
    ['a booking of a row that was taken over', findHalfDone([booking], leasesOf(lease(0, 1)), [])],
    ['a booking by another transaction', findHalfDone([{ ...booking, xid: '8' }], leasesOf(finished), [])],
    ['a booking of nobody’s row', findHalfDone([booking], leasesOf(), [])],
    ['a row without its booking', findHalfDone([], leasesOf(finished), [])],
    ['a commit that is not there', findHalfDone([], leasesOf(lease(0, 1)), told('committed'))],
    ['a rollback that is there', findHalfDone([booking], leasesOf(finished), told('rolledBack'))],
  ])('%s is found', (_, found) => {
    expect(found).toHaveLength(1);
  });
});

describe('looks of a handler', () => {
  const clock = new ClockMap([{ from: 0, to: 10, database: 0 }]);
  const look = (at: number, claim = A) => ({ row: '1', claim, by: 'a', at });

  test('before another claim has the row are right, and so is what the clocks leave open', () => {
    expect(findLateLooks([look(900), look(1_005)], leasesOf(lease(0, 1)), clock)).toEqual([]);
  });

  test('after the row was finished are nobody’s concern', () => {
    expect(findLateLooks([look(9_000), look(9_000, B)], leasesOf(lease(0, 1, { end: 'finished' })), clock)).toEqual([]);
  });

  test('after another claim has the row are found', () => {
    expect(findLateLooks([look(1_500)], leasesOf(lease(0, 1)), clock)).toHaveLength(1);
  });
});
