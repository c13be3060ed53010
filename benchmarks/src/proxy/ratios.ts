import { type Figure, figure, withRange } from '../../../test/support/figures.ts';
import { median } from '../support/median.ts';
import type { Reading } from './processes/meter.ts';

/** What one contestant did in one slot of load. */
export interface Slot {
  readonly requestsPerCpuSecond: number;
  readonly requestsPerSecond: number;
}

export function toSlot(before: Reading, after: Reading): Slot {
  const requests = after.requests - before.requests;
  return {
    requestsPerCpuSecond: (requests * 1_000) / (after.cpuMs - before.cpuMs),
    requestsPerSecond: (requests * 1_000) / (after.atMs - before.atMs),
  };
}

/** By the name of who did it, round by round. */
export type Slots = Readonly<Record<string, readonly Slot[]>>;

export function mergeSlots(earlier: Slots, later: Slots): Slots {
  return Object.fromEntries(Object.entries(later).map(([name, slots]) => [name, [...(earlier[name] ?? []), ...slots]]));
}

/** Round by round: neighbours in time had the same machine. */
export function ratiosOf(ours: readonly Slot[], peer: readonly Slot[], metric: keyof Slot): number[] {
  return ours.map((slot, round) => slot[metric] / (peer[round]?.[metric] ?? Number.NaN));
}

/** The median of the rounds, with the lowest and the highest beside it. */
export function medianFigure(name: string, values: readonly number[], unit: string, target: string | null = null): Figure {
  return withRange(figure(name, median(values), unit, target), values);
}
