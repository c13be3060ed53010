import { expect, it } from 'vitest';
import { CONTESTANTS } from '../../src/work/contestants.ts';
import { readOptions } from '../../src/work/options.ts';
import { rowsFor } from '../../src/work/rounds.ts';

const { effort } = readOptions(['--quick']);
const [everyRound, someRounds] = (['all', 'some'] as const).map((rounds) => CONTESTANTS.filter((one) => one.rounds === rounds));

it('everybody who is measured takes part in the first round, however few there are', () => {
  for (const contestant of CONTESTANTS) expect(rowsFor(contestant, 1, effort)).toBeGreaterThan(0);
});

it('who does not take part in all rounds sits out most of them', () => {
  const takesPart = (one: (typeof CONTESTANTS)[number]): number[] =>
    [1, 2, 3, 4, 5, 6, 7, 8].filter((round) => rowsFor(one, round, effort) > 0);
  for (const contestant of everyRound ?? []) expect(takesPart(contestant)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  for (const contestant of someRounds ?? []) expect(takesPart(contestant)).toEqual([1, 5]);
});

it('rows are whole, and full batches, in every share', () => {
  for (const { effort: one } of [readOptions([]), readOptions(['--quick'])]) {
    for (const contestant of CONTESTANTS) expect(rowsFor(contestant, 1, one) % 100).toBe(0);
  }
});

it('names are unique', () => {
  expect(new Set(CONTESTANTS.map(({ name }) => name.toLowerCase())).size).toBe(CONTESTANTS.length);
});
