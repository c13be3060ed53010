import { expect, test } from 'vitest';
import { findStaleWrites } from '../src/checker/stale-writes.ts';
import { terms, write } from './support/evidence.ts';

const taken = terms(['a', 1, 100, 2_000], ['b', 2, 2_500, 4_500]);

test('writes within their terms are right', () => {
  expect(findStaleWrites([write('a', 1, [100, 110]), write('b', 2, [2_600, 2_610])], taken)).toEqual([]);
});

test('a fence that is held at the end of the term holds the successor off: its write is right', () => {
  expect(findStaleWrites([write('a', 1, [1_990, 2_400])], taken)).toEqual([]);
});

test.each([
  ['committed after the next term had begun', write('a', 1, [1_990, 2_501]), 'committed 1.0 ms after b'],
  ['written before the term began', write('a', 1, [99, 110]), 'before its term began'],
  ['of a term that never was', write('c', 9, [200, 210]), 'had no such term'],
  ['of another holder of the same token', write('c', 1, [200, 210]), 'had no such term'],
])('a write %s is found', (_, stale, why) => {
  expect(findStaleWrites([stale], taken)).toEqual([{ check: 'stale fenced write', what: expect.stringContaining(why) }]);
});

test('a write of an earlier token after one of a later token is found', () => {
  const lastTerms = terms(['a', 1, 0, 10], ['b', 2, 20, 30]);
  const found = findStaleWrites([write('b', 2, [21, 22]), write('a', 1, [5, 23])], lastTerms);
  expect(found.map(({ what }) => what)).toContainEqual(expect.stringContaining('committed after a write with token 2'));
});
