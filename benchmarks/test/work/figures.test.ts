import { describe, expect, it } from 'vitest';
import { CONTESTANTS } from '../../src/work/contestants.ts';
import { COMPARISONS, medianFigure, ratiosOf, valuesOf } from '../../src/work/figures.ts';
import type { Slot } from '../../src/work/measure.ts';
import type { Slots } from '../../src/work/rounds.ts';

const slot = (rowsPerSecond: number): Slot => ({
  rowsPerSecond,
  rowsPerCpuSecond: rowsPerSecond / 2,
  clientMicrosPerRow: 15,
  serverMicrosPerRow: 30,
  walBytesPerRow: 600,
  statementsPerRow: 0.02,
});

describe('ratios', () => {
  it('are of the same round, and of none that one of the two sat out', () => {
    const slots: Slots = { ours: [slot(30), slot(20), slot(50)], peer: [slot(10), null, slot(100)] };
    expect(ratiosOf(slots, ['ours', 'peer'], 'rowsPerSecond')).toEqual([3, 0.5]);
    expect(ratiosOf(slots, ['peer', 'ours'], 'rowsPerCpuSecond')).toEqual([1 / 3, 2]);
  });

  it('with who was not measured meet no target', () => {
    const slots: Slots = { ours: [slot(30)], late: [null] };
    for (const peer of ['nobody', 'late']) {
      expect(medianFigure('x', ratiosOf(slots, ['ours', peer], 'rowsPerSecond'), 'x', '>= 0').ok).toBe(false);
      expect(medianFigure('x', ratiosOf(slots, [peer, 'ours'], 'rowsPerSecond'), 'x', '>= 0').ok).toBe(false);
    }
  });
});

it('values are of the rounds that were taken part in', () => {
  expect(valuesOf({ some: [null, slot(7), null, slot(9)] }, 'some', 'rowsPerSecond')).toEqual([7, 9]);
});

it('compares contestants alone, and who is compared with a target takes part in all rounds', () => {
  for (const { ours, peer, target } of COMPARISONS) {
    const found = [ours, peer].map((name) => CONTESTANTS.find((one) => one.name === name)?.rounds);
    expect(found).not.toContain(undefined);
    if (target !== null) expect(found).toEqual(['all', 'all']);
  }
  expect(COMPARISONS.find(({ peer }) => peer === 'handWritten')).toMatchObject({ ours: 'leasehold', target: '>= 0.9' });
});
