import { groupBy, ms } from './group.ts';
import type { Belief, Violation } from './history.ts';

/**
 * No two instances were told at one instant, of the machine's own clock, that they hold the role. Only what is certain
 * counts: a belief has surely begun at the end of its first look and surely not ended at the start of its last.
 */
export function findBeliefOverlaps(beliefs: readonly Belief[]): Violation[] {
  return [...groupBy(beliefs, ({ role }) => role).values()].flatMap(overlapsOfRole);
}

function overlapsOfRole(beliefs: readonly Belief[]): Violation[] {
  const sorted = [...beliefs].sort((a, b) => a.first.from - b.first.from);
  const violations: Violation[] = [];
  // Those begun that may still reach into the next: not only the one just before, which a long wrong belief outlasts.
  let open: Belief[] = [];
  for (const belief of sorted) {
    open = open.filter(({ last }) => last.to >= belief.first.from);
    for (const other of open) violations.push(...compare(other, belief));
    open.push(belief);
  }
  return violations;
}

function compare(one: Belief, other: Belief): Violation[] {
  const both = commonTime(one, other);
  if (both === null || one.instance === other.instance) return [];
  const what =
    `${one.role}: ${one.instance} (token ${one.token}) and ${other.instance} (token ${other.token}) ` +
    `were both told that they hold it, for ${ms(both)} at least`;
  return [{ check: 'belief overlap', what }];
}

/** How long both surely believed, or null. */
function commonTime(one: Belief, other: Belief): number | null {
  if (isPoint(one) && isPoint(other)) return null;
  if (isPoint(one)) return surelyCovers(other, one) ? 0 : null;
  if (isPoint(other)) return surelyCovers(one, other) ? 0 : null;
  const common = Math.min(one.last.from, other.last.from) - Math.max(one.first.to, other.first.to);
  return common > 0 ? common : null;
}

/** Seen by a single look, or by looks so near that they may be one: an instant that is only known to lie within it. */
function isPoint({ first, last }: Belief): boolean {
  return last.from <= first.to;
}

function surelyCovers(belief: Belief, point: Belief): boolean {
  return belief.first.to <= point.first.from && point.first.to <= belief.last.from;
}
