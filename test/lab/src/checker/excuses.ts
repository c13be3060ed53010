import type { StruckFault } from './history.ts';

export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** How much of the gap passed while a fault of the database kept everybody from taking the role. */
export function excusedTime(role: string, gap: Gap, faults: readonly StruckFault[]): number {
  const windows = faults
    .filter(({ reach }) => reach.of === 'all' || (reach.of === 'roles' && reach.roles.includes(role)))
    .map(({ from, to }) => ({ from: Math.max(from, gap.from), to: Math.min(to, gap.to) }))
    .filter(({ from, to }) => to > from)
    .sort((a, b) => a.from - b.from);
  let excused = 0;
  let counted = gap.from;
  for (const { from, to } of windows) {
    excused += Math.max(0, to - Math.max(from, counted));
    counted = Math.max(counted, to);
  }
  return excused;
}
