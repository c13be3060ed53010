import { expect, it } from 'vitest';
import { readOptions } from '../../src/work/options.ts';

it('measures in full and prints a table, unless told otherwise', () => {
  expect(readOptions([])).toMatchObject({ quick: false, json: false });
});

it('takes its options behind the -- of a package manager too', () => {
  expect(readOptions(['--', '--quick', '--json'])).toMatchObject({ quick: true, json: true });
});

it('--quick is shorter in everything', () => {
  const [full, quick] = [readOptions([]).effort, readOptions(['--quick']).effort];
  for (const name of Object.keys(full) as (keyof typeof full)[]) expect(quick[name]).toBeLessThan(full[name]);
});

it('refuses what it does not know, by name', () => {
  expect(() => readOptions(['--fast'])).toThrow('--fast');
});
