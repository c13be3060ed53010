import { describe, expect, test } from 'vitest';
import { findBeliefOverlaps } from '../src/checker/belief-overlaps.ts';
import { findLateBeliefs } from '../src/checker/late-beliefs.ts';
import { belief, sameClock, terms } from './support/evidence.ts';

describe('beliefs by the clock of the machine', () => {
  test('one after another is right', () => {
    expect(findBeliefOverlaps([belief('a', 1, [0, 100]), belief('b', 2, [100, 200])])).toEqual([]);
  });

  test('two at a time are found, with how long', () => {
    const found = findBeliefOverlaps([belief('a', 1, [0, 100]), belief('b', 2, [90, 200])]);
    expect(found).toEqual([{ check: 'belief overlap', what: expect.stringContaining('for 10.0 ms at least') }]);
  });

  test('a belief that outlasts several successors is found with each', () => {
    const found = findBeliefOverlaps([belief('a', 1, [0, 1_000]), belief('b', 2, [100, 200]), belief('c', 3, [300, 400])]);
    expect(found).toHaveLength(2);
  });

  test('what may have been before or after is not held against anybody', () => {
    // The last look of a began at 100 and ended at 130, b's first is within that time.
    expect(findBeliefOverlaps([belief('a', 1, [0, 100], 30), belief('b', 2, [110, 200], 5)])).toEqual([]);
  });

  test('a single look within the belief of another is found', () => {
    expect(findBeliefOverlaps([belief('a', 1, [0, 100]), belief('b', 2, [50, 50], 10)])).toHaveLength(1);
    expect(findBeliefOverlaps([belief('b', 2, [50, 50], 10), belief('a', 1, [55, 100])])).toEqual([]);
  });

  test('an instance does not compete with itself', () => {
    expect(findBeliefOverlaps([belief('a', 1, [0, 100]), belief('a', 2, [90, 200])])).toEqual([]);
  });

  test('other roles are other beliefs', () => {
    expect(findBeliefOverlaps([belief('a', 1, [0, 100]), { ...belief('b', 2, [0, 100]), role: 's' }])).toEqual([]);
  });
});

describe('beliefs and the successor in the database', () => {
  const taken = terms(['a', 1, 0, 2_000], ['b', 2, 2_000, 4_000]);

  test('a belief that ends before the takeover is right', () => {
    expect(findLateBeliefs([belief('a', 1, [0, 1_700])], taken, sameClock())).toEqual([]);
  });

  test('a belief after the takeover is found, though the successor has not looked yet', () => {
    expect(findLateBeliefs([belief('a', 1, [0, 2_100])], taken, sameClock())).toHaveLength(1);
  });

  test('what the comparison of the clocks leaves open is not held against anybody', () => {
    expect(findLateBeliefs([belief('a', 1, [0, 2_100])], taken, sameClock(200))).toEqual([]);
  });

  test('the successor is the next of another instance', () => {
    const again = terms(['a', 1, 0, 2_000], ['a', 2, 100, 2_100], ['b', 3, 2_100, 4_100]);
    expect(findLateBeliefs([belief('a', 1, [0, 1_000])], again, sameClock())).toEqual([]);
    expect(findLateBeliefs([belief('a', 1, [0, 2_200])], again, sameClock())).toHaveLength(1);
  });
});
