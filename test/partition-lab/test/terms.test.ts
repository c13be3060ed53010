import { describe, expect, test } from 'vitest';
import type { DatabaseTerm } from '../../lab/src/checker/history.ts';
import { handoversOf, releasesOf } from '../src/checker/handovers.ts';
import { vacanciesOf } from '../src/checker/vacancies.ts';
import { MS, term, termsOf } from './support/evidence.ts';

const all = (): boolean => true;
const none = (): boolean => false;

describe('handovers', () => {
  test('a term is taken and given back, or runs out', () => {
    const isReleased = releasesOf([{ role: 'r0', holder: null, token: 1, at: 10, acquiredAt: 0, expiresAt: 0 }]);
    const terms = termsOf(term('r0', 'a', [0, 10]), term('r0', 'b', [12, 30], 2));
    expect(handoversOf(terms, isReleased).map(({ kind, holder, at }) => [kind, holder, at])).toEqual([
      ['taken', 'a', 0],
      ['released', 'a', 10],
      ['taken', 'b', 12],
      ['expired', 'b', 30],
    ]);
  });

  test('who takes its own row anew in time goes on holding', () => {
    const terms = termsOf(term('r0', 'a', [0, 10]), term('r0', 'a', [8, 20], 2));
    expect(handoversOf(terms, none).map(({ kind, at }) => [kind, at])).toEqual([
      ['taken', 0],
      ['expired', 20],
    ]);
  });

  test('who takes its own row after it ran out does not', () => {
    expect(handoversOf(termsOf(term('r0', 'a', [0, 10]), term('r0', 'a', [11, 20], 2)), none)).toHaveLength(4);
  });
});

describe('vacancies', () => {
  const between = (ms: number): Map<string, DatabaseTerm[]> =>
    termsOf(term('r0', 'a', [0, 1_000]), term('r0', 'b', [1_000 + ms * MS, 9_000_000], 2));

  test('after a term that ran out', () => {
    expect(vacanciesOf(between(70), none, new Set())).toEqual({ afterStop: 0, afterHandOver: 0, afterExpiry: 70 });
  });

  test('after one that was given back by an instance that stays', () => {
    expect(vacanciesOf(between(70), all, new Set())).toMatchObject({ afterHandOver: 70, afterStop: 0 });
  });

  test('after one that was given back by an instance that stops', () => {
    expect(vacanciesOf(between(70), all, new Set(['a']))).toMatchObject({ afterHandOver: 0, afterStop: 70 });
  });

  test('what an instance handed over long before it stopped is no part of its stop', () => {
    const terms = between(70);
    terms.set('r1', [term('r1', 'a', [0, 5_000_000]), term('r1', 'b', [5_000_000 + 20 * MS, 9_000_000], 2)]);
    expect(vacanciesOf(terms, all, new Set(['a']))).toMatchObject({ afterHandOver: 70, afterStop: 20 });
  });
});
