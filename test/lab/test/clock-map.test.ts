import { expect, test } from 'vitest';
import { ClockMap } from '../src/checker/clock-map.ts';

test('a time of the database is bounded by the sample around it', () => {
  const { from, to } = new ClockMap([{ from: 100, to: 300, database: 1_000 }]).toMonotonic(1_000);
  expect({ from, to }).toEqual({ from: 100, to: 300 });
});

test('the tightest sample nearby counts, not the nearest', () => {
  const clock = new ClockMap([
    { from: 0, to: 10, database: 1_000_000 },
    { from: 500_000, to: 540_000, database: 1_520_000 },
  ]);
  const { from, to } = clock.toMonotonic(1_520_000);
  expect(to - from).toBeLessThan(1_000);
});

test('a time far from every sample goes by the nearest, with slack for what the clocks may have drifted', () => {
  const clock = new ClockMap([
    { from: 0, to: 0, database: 0 },
    { from: 100_000_000, to: 100_000_000, database: 100_000_000 },
  ]);
  expect(clock.toMonotonic(110_000_000)).toEqual({ from: 109_995_000, to: 110_005_000 });
});

test('without samples nothing is certain', () => {
  expect(new ClockMap([]).toMonotonic(5)).toEqual({ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY });
});
