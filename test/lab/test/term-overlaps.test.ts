import { describe, expect, test } from 'vitest';
import { databaseTerms } from '../src/checker/database-terms.ts';
import { findTermOverlaps } from '../src/checker/term-overlaps.ts';
import { findTokenDisorder } from '../src/checker/tokens.ts';
import { change, terms } from './support/evidence.ts';

describe('terms by the clock of the database', () => {
  test('a term that begins when the one before has run out is right', () => {
    expect(findTermOverlaps(terms(['a', 1, 0, 2_000], ['b', 2, 2_000, 4_000]))).toEqual([]);
  });

  test('a term that begins before is found, with who and by how much', () => {
    const found = findTermOverlaps(terms(['a', 1, 0, 2_000], ['b', 2, 1_999, 4_000]));
    expect(found).toEqual([
      { check: 'term overlap', what: expect.stringContaining('b took token 2 1.0 ms before token 1 of a') },
    ]);
  });

  test('a renewal makes a term longer', () => {
    const renewed = databaseTerms([
      change({ holder: 'a', token: 1, at: 0, expiresAt: 2_000 }),
      change({ holder: 'a', token: 1, at: 1_500, acquiredAt: 0, expiresAt: 3_500 }),
      change({ holder: 'b', token: 2, at: 2_500, expiresAt: 4_500 }),
    ]);
    expect(findTermOverlaps(renewed)).toHaveLength(1);
  });

  test('a release ends a term early', () => {
    const released = databaseTerms([
      change({ holder: 'a', token: 1, at: 0, expiresAt: 2_000 }),
      change({ holder: null, token: 1, at: 500 }),
      change({ holder: 'b', token: 2, at: 501, expiresAt: 2_501 }),
    ]);
    expect(findTermOverlaps(released)).toEqual([]);
  });

  test('an instance may take its own row anew', () => {
    expect(findTermOverlaps(terms(['a', 1, 0, 2_000], ['a', 2, 700, 2_700]))).toEqual([]);
  });
});

describe('tokens', () => {
  test('tokens that rise are right', () => {
    expect(findTokenDisorder(terms(['a', 1, 0, 1], ['b', 2, 5, 6], ['a', 7, 8, 9]))).toEqual([]);
  });

  test.each([
    ['the same token again', 2],
    ['a lower token', 1],
  ])('%s is found', (_, token) => {
    expect(findTokenDisorder(terms(['a', 2, 0, 1], ['b', token, 5, 6]))).toHaveLength(1);
  });

  test('a row that its own holder takes anew without a new token is found', () => {
    expect(findTokenDisorder(terms(['a', 1, 0, 2_000], ['a', 1, 500, 2_500]))).toHaveLength(1);
  });

  test('a term that begins before the one it follows is found', () => {
    expect(findTokenDisorder(terms(['a', 1, 10, 11], ['b', 2, 9, 12]))).toHaveLength(1);
  });
});
