import { describe, expect, test } from 'vitest';
import { planFaults, type PlanOptions } from '../src/plan/plan-faults.ts';
import type { PlannedFault } from '../src/plan/fault.ts';
import { verbs } from '../src/verbs/index.ts';

const options: PlanOptions = { seed: 42, minutes: 30, processes: 5, roles: 20, kinds: verbs };
const strikesOf = new Map(verbs.map(({ kind, strikes }) => [kind, strikes]));

function of(strikes: string, plan: readonly PlannedFault[]): PlannedFault[] {
  return plan.filter(({ kind }) => strikesOf.get(kind) === strikes);
}

describe('a plan', () => {
  const plan = planFaults(options);

  test('follows from the seed alone', () => {
    expect(planFaults(options)).toEqual(plan);
    expect(planFaults({ ...options, seed: 43 })).not.toEqual(plan);
  });

  test('of half an hour has five hundred faults and more, of every kind', () => {
    expect(plan.length).toBeGreaterThanOrEqual(500);
    expect(new Set(plan.map(({ kind }) => kind))).toEqual(new Set(verbs.map(({ kind }) => kind)));
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('of a minute has enough faults and kinds too (seed %i)', (seed) => {
    const short = planFaults({ ...options, seed, minutes: 1 });
    expect(short.length).toBeGreaterThanOrEqual(16);
    expect(new Set(short.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(8);
  });

  test('never strikes so many processes at once that fewer than two are well', () => {
    const striking = of('process', plan);
    for (const { atMs } of striking) {
      const ill = striking.filter((other) => other.atMs <= atMs && other.atMs + other.lastsMs > atMs);
      expect(ill.length).toBeLessThanOrEqual(3);
    }
  });

  test('strikes the database only when the fault before it is over', () => {
    const striking = of('database', plan);
    striking.slice(1).forEach(({ atMs }, index) => {
      const before = striking[index] as PlannedFault;
      expect(atMs).toBeGreaterThanOrEqual(before.atMs + before.lastsMs);
    });
  });

  test('is over when the time is', () => {
    expect(Math.max(...plan.map(({ atMs, lastsMs }) => atMs + lastsMs))).toBeLessThanOrEqual(30 * 60_000);
  });

  test('names processes and roles that exist', () => {
    expect(plan.every(({ slot, role }) => slot >= 0 && slot < 5 && role >= 0 && role < 20)).toBe(true);
  });
});
