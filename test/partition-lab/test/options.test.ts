import { expect, test } from 'vitest';
import { readOptions } from '../src/options.ts';

test('a short run is shorter, and minutes that are given count', () => {
  expect(readOptions(['--quick']).minutes).toBeLessThan(1);
  expect(readOptions(['--quick', '--minutes', '3', '--seed', '42'])).toMatchObject({ minutes: 3, seed: 42, json: false });
});

test('scenarios are played in their own order', () => {
  expect(readOptions(['--only', 'conflict,fleet', '--json'])).toMatchObject({ only: ['fleet', 'conflict'], json: true });
});

test.each([
  [['--minutes', '0'], '--minutes is "0"; give a number of at least 0.1.'],
  [['--minutes', ''], '--minutes is ""'],
  [['--seed', '1.5'], '--seed is "1.5"; give a whole number.'],
  [['--seed', '-1'], '--seed'],
  [['--only', 'fleet,sleep'], "--only names 'sleep'"],
])('%j is refused', (args, why) => {
  expect(() => readOptions(args)).toThrow(why);
});
