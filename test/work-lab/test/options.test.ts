import { expect, test } from 'vitest';
import { readOptions } from '../src/options.ts';

test('a short run is shorter, and what is given counts', () => {
  expect(readOptions(['--quick']).minutes).toBeLessThan(1);
  expect(readOptions(['--quick', '--minutes', '3', '--rows', '500', '--seed', '42'])).toMatchObject({
    minutes: 3,
    rows: 500,
    seed: 42,
  });
});

test('a whole run has 100,000 rows and 8 workers', () => {
  expect(readOptions(['--json'])).toMatchObject({ rows: 100_000, processes: 8, json: true });
});

test.each([
  [['--minutes', '0'], '--minutes is "0"; give a number of at least 0.1.'],
  [['--rows', '5'], '--rows is "5"; give a number of at least 100.'],
  [['--rows', '100.5'], '--rows is "100.5"; give a whole number.'],
  [['--seed', '-1'], '--seed'],
])('%j is refused', (args, why) => {
  expect(() => readOptions(args)).toThrow(why);
});
