import { describe, expect, test } from 'vitest';
import { findDoubleOwners } from '../src/checker/key-owners.ts';
import { findTurnOverlaps } from '../src/checker/turn-overlaps.ts';
import { term, termsOf, turn } from './support/evidence.ts';

describe('turns of a key', () => {
  test('one after the other, or of one instance, are right', () => {
    expect(findTurnOverlaps([turn('a', [0, 10]), turn('a', [5, 12]), turn('b', [12, 20])])).toEqual([]);
  });

  test('of two keys may overlap', () => {
    expect(findTurnOverlaps([turn('a', [0, 10]), turn('b', [5, 12], { key: 'other' })])).toEqual([]);
  });

  test.each([
    ['that begins within another', [turn('a', [0, 2_000]), turn('b', [1_000, 1_500])]],
    ['whose other is written down later', [turn('b', [1_000, 1_500]), turn('a', [0, 2_000])]],
    ['within one that a shorter turn follows', [turn('a', [0, 2_000]), turn('a', [10, 20]), turn('b', [1_000, 1_500])]],
  ])('one %s is found', (_, turns) => {
    const what = expect.stringContaining('k: b began 1.0 ms before the turn of a was over');
    expect(findTurnOverlaps(turns)).toEqual([{ check: 'turn overlap', what }]);
  });
});

describe('owners of a key', () => {
  const maps = [
    { instance: 'a', roles: { k: 'r1', other: 'r2' } },
    { instance: 'b', roles: { k: 'r1', other: 'r2' } },
    { instance: 'c', roles: { k: 'r0', other: 'r3' } },
  ];

  test('one after the other are right', () => {
    expect(findDoubleOwners(termsOf(term('r1', 'a', [0, 10]), term('r1', 'b', [10, 20])), maps)).toEqual([]);
  });

  test('of another count after the others are gone are right', () => {
    expect(findDoubleOwners(termsOf(term('r1', 'a', [0, 10]), term('r0', 'c', [10, 20])), maps)).toEqual([]);
  });

  test('a role that means nothing for a key makes nobody its owner', () => {
    expect(findDoubleOwners(termsOf(term('r1', 'a', [0, 10]), term('r9', 'c', [5, 20])), maps)).toEqual([]);
  });

  test('two that hold different roles, and each own the key by their own count, are found', () => {
    const found = findDoubleOwners(termsOf(term('r1', 'a', [0, 10_000]), term('r0', 'c', [9_000, 20_000])), maps);
    expect(found).toEqual([{ check: 'two owners of a key', what: expect.stringContaining('k: c owned it through r0 1.0 ms') }]);
  });

  test('two that hold one role are found', () => {
    expect(findDoubleOwners(termsOf(term('r1', 'a', [0, 10]), term('r1', 'b', [9, 20])), maps)).toHaveLength(1);
  });
});
