import { describe, expect, test } from 'vitest';
import { checkTakeovers, type TakeoverEvidence } from '../src/checker/takeovers.ts';
import { belief, fault, sameClock, terms } from './support/evidence.ts';

const calm: Omit<TakeoverEvidence, 'beliefs'> = {
  terms: new Map(),
  faults: [],
  clock: sameClock(),
  leaseMs: 2_000,
  watchedUntil: 0,
};

describe('takeovers', () => {
  test('within the lease and a second is right', () => {
    const { violations, worstMs, count } = checkTakeovers({
      ...calm,
      beliefs: [belief('a', 1, [0, 1_000]), belief('b', 2, [3_900, 5_000])],
    });
    expect({ violations, worstMs, count }).toEqual({ violations: [], worstMs: 2_900, count: 1 });
  });

  test('later is found', () => {
    const { violations } = checkTakeovers({ ...calm, beliefs: [belief('a', 1, [0, 1_000]), belief('b', 2, [4_001, 5_000])] });
    expect(violations).toHaveLength(1);
  });

  test('never is found', () => {
    const { violations } = checkTakeovers({ ...calm, beliefs: [belief('a', 1, [0, 1_000])], watchedUntil: 10_000_000 });
    expect(violations).toHaveLength(1);
  });

  test('a belief within that of another leaves no gap', () => {
    const beliefs = [belief('a', 1, [0, 9_000]), belief('b', 2, [10, 20]), belief('c', 3, [9_100, 9_200])];
    expect(checkTakeovers({ ...calm, beliefs }).worstMs).toBe(100);
  });
});

describe('what excuses a late takeover', () => {
  const beliefs = [belief('a', 1, [0, 1_000]), belief('b', 2, [6_000, 7_000])];

  test.each([
    ['a fault of the database', fault({ of: 'all' }, [2_000, 5_000])],
    ['a lock on the row', fault({ of: 'roles', roles: ['r'] }, [500, 4_000])],
  ])('%s, for its duration', (_, excuse) => {
    expect(checkTakeovers({ ...calm, beliefs, faults: [excuse] }).violations).toEqual([]);
  });

  test('faults at the same time excuse once', () => {
    const faults = [fault({ of: 'all' }, [2_000, 3_000]), fault({ of: 'all' }, [2_500, 3_500])];
    expect(checkTakeovers({ ...calm, beliefs, faults }).worstMs).toBe(3_500);
  });

  test.each([
    ['a fault that was over before', fault({ of: 'all' }, [0, 900])],
    ['a lock on another row', fault({ of: 'roles', roles: ['s'] }, [1_000, 6_000])],
    ['the fault of the holder itself', fault({ of: 'instances', instances: ['a'] }, [1_000, 6_000])],
  ])('not %s', (_, excuse) => {
    expect(checkTakeovers({ ...calm, beliefs, faults: [excuse] }).violations).toHaveLength(1);
  });

  test('one that took it and was struck before it could know costs another lease', () => {
    const taken = terms(['a', 1, 0, 3_000], ['c', 2, 3_100, 5_100], ['b', 3, 5_900, 8_000]);
    const faults = [fault({ of: 'instances', instances: ['c'] }, [3_200, 9_000])];
    const { violations, worstMs } = checkTakeovers({ ...calm, beliefs, terms: taken, faults });
    expect(violations).toEqual([]);
    // 2,900 ms less what the two clocks may have drifted.
    expect(worstMs).toBeGreaterThan(2_890);
    expect(worstMs).toBeLessThanOrEqual(2_900);
  });

  test('one that took it in good health and did nothing excuses nobody', () => {
    const taken = terms(['a', 1, 0, 3_000], ['c', 2, 3_100, 5_100], ['b', 3, 5_900, 8_000]);
    const faults = [fault({ of: 'instances', instances: ['c'] }, [0, 2_000])];
    expect(checkTakeovers({ ...calm, beliefs, terms: taken, faults }).violations).toHaveLength(1);
  });
});
