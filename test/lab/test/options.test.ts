import { expect, test } from 'vitest';
import { readOptions } from '../src/run/options.ts';

test('arguments are read', () => {
  const args = ['--minutes', '30', '--processes', '7', '--roles', '3', '--lease', '3s', '--seed', '9', '--json'];
  expect(readOptions(args)).toEqual({ minutes: 30, processes: 7, roles: 3, lease: '3s', leaseMs: 3_000, seed: 9, json: true });
});

test('a run without a seed gets one that can be given again', () => {
  const { seed } = readOptions([]);
  expect(readOptions(['--seed', String(seed)]).seed).toBe(seed);
});

test('the -- of a package manager is passed over', () => {
  expect(readOptions(['--', '--seed', '9']).seed).toBe(9);
});

test.each([
  [['--minutes', 'x'], '--minutes is "x"'],
  [['--minutes', '0'], '--minutes is "0"'],
  [['--processes', '2'], '--processes is "2"'],
  [['--roles', '1.5'], '--roles is "1.5"'],
  [['--seed', ''], '--seed is ""'],
  [['--lease', 'soon'], '--lease is "soon"'],
  [['--typo'], '--typo'],
])('%j is refused, by name', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});
