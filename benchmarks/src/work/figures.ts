import { type Figure, figure, withRange } from '../../../test/support/figures.ts';
import { median } from '../support/median.ts';
import type { Slot } from './measure.ts';
import type { Slots } from './rounds.ts';

interface Comparison {
  readonly name: 'claimAndSettle' | 'workLoop';
  readonly ours: string;
  readonly peer: string;
  readonly target: string | null;
}

const compare = (name: Comparison['name'], ours: string): ((peer: string, target?: string) => Comparison) => {
  return (peer, target) => ({ name, ours, peer, target: target ?? null });
};
const claimAndSettle = compare('claimAndSettle', 'leasehold');
const workLoop = compare('workLoop', 'leaseholdWork');

export const COMPARISONS: readonly Comparison[] = [
  claimAndSettle('handWritten', '>= 0.9'),
  claimAndSettle('leaseholdCounting'),
  claimAndSettle('pgBossFetch'),
  workLoop('graphileBatched', '>= 1'),
  workLoop('pgBossFetch', '>= 2'),
  workLoop('pgBossWork'),
  // The same code twice: how far off 1 it is, is the noise of the run.
  { ...claimAndSettle('handWrittenAgain'), ours: 'handWritten' },
];

/** Of WAL bytes and of statements. A batch is two statements for 100 rows; at the end each connection finds nothing once. */
const COST_TARGETS: Readonly<Record<string, readonly [string, string]>> = {
  leasehold: ['<= 700', '<= 0.021'],
  leaseholdCounting: ['<= 700', '<= 0.021'],
};

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

/** As many times as fast as each peer, by the clock, and by the CPU time of client and server. */
export function ratioFigures(slots: Slots): Figure[] {
  return COMPARISONS.flatMap(({ name, ours, peer, target }) => {
    const cpu = ratiosOf(slots, [ours, peer], 'rowsPerCpuSecond').filter((ratio) => !Number.isNaN(ratio));
    return [
      medianFigure(`${name}@${peer}`, ratiosOf(slots, [ours, peer], 'rowsPerSecond'), 'x', target),
      ...(cpu.length === 0 ? [] : [medianFigure(`${name}Cpu@${peer}`, cpu, 'x')]),
    ];
  });
}

/** What a row costs, from being claimed to being done. */
export function costFigures(slots: Slots): Figure[] {
  return Object.keys(slots).flatMap((name) => {
    const [wal, statements] = COST_TARGETS[name] ?? [null, null];
    return [
      medianFigure(`walBytesPerRow@${name}`, valuesOf(slots, name, 'walBytesPerRow'), 'bytes', wal),
      medianFigure(`statementsPerRow@${name}`, valuesOf(slots, name, 'statementsPerRow'), '', statements),
    ];
  });
}

/** For orientation: absolute times say more about the machine. */
export function absoluteFigures(slots: Slots): Figure[] {
  return Object.keys(slots).flatMap((name) => [
    medianFigure(`rowsPerSecond@${name}`, valuesOf(slots, name, 'rowsPerSecond'), '/s'),
    medianFigure(`clientMicrosPerRow@${name}`, valuesOf(slots, name, 'clientMicrosPerRow'), 'µs'),
    ...serverFigure(name, valuesOf(slots, name, 'serverMicrosPerRow')),
  ]);
}

function serverFigure(name: string, values: readonly number[]): Figure[] {
  const isKnown = values.length > 0 && !values.some(Number.isNaN);
  return isKnown ? [medianFigure(`serverMicrosPerRow@${name}`, values, 'µs')] : [];
}
