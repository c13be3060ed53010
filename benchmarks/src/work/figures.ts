import { type Figure, figure, withRange } from '../../../test/support/figures.ts';
import { median } from '../support/median.ts';
import type { Slot } from './measure.ts';
import type { Slots } from './rounds.ts';

/** Round by round: neighbours in time had the same machine. */
export function ratiosOf(slots: Slots, [ours, peer]: readonly [string, string], metric: keyof Slot): number[] {
  return (slots[ours] ?? []).flatMap((slot, round) => {
    const other = slots[peer]?.[round] ?? null;
    return slot === null || other === null ? [] : [slot[metric] / other[metric]];
  });
}

export function valuesOf(slots: Slots, name: string, metric: keyof Slot): number[] {
  return (slots[name] ?? []).flatMap((slot) => (slot === null ? [] : [slot[metric]]));
}

/** The median of the rounds, with the lowest and the highest beside it. */
export function medianFigure(name: string, values: readonly number[], unit: string, target: string | null = null): Figure {
  return withRange(figure(name, median(values), unit, target), values);
}

/** What each did by itself, for orientation: absolute times say more about the machine. */
export function absoluteFigures(slots: Slots): Figure[] {
  return Object.keys(slots).flatMap((name) => [
    medianFigure(`rowsPerSecond@${name}`, valuesOf(slots, name, 'rowsPerSecond'), '/s'),
    medianFigure(`walBytesPerRow@${name}`, valuesOf(slots, name, 'walBytesPerRow'), 'bytes'),
    medianFigure(`statementsPerRow@${name}`, valuesOf(slots, name, 'statementsPerRow'), ''),
  ]);
}
