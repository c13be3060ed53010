import { expect, test } from 'vitest';
import { findRecordingErrors } from '../src/checker/recorded-terms.ts';
import { terms } from './support/evidence.ts';

const taken = terms(['a', 1, 10, 20], ['b', 2, 30, 40]);
const row = { role: 'r', token: 1, holder: 'a', acquiredAt: 10_000, endedAt: 20_000 };

test('a row for each term that was followed by another is right', () => {
  expect(findRecordingErrors([row], taken)).toEqual([]);
});

test.each([
  ['a missing row', [], 'is missing'],
  ['another holder', [{ ...row, holder: 'c' }], 'names c as the holder'],
  ['another start', [{ ...row, acquiredAt: 11_000 }], 'begins at another time'],
  ['an end after the next start', [{ ...row, endedAt: 30_001 }], 'ends after token 2 begins'],
])('%s is found', (_, rows, why) => {
  expect(findRecordingErrors(rows, taken)).toEqual([{ check: 'recorded terms', what: expect.stringContaining(why) }]);
});
