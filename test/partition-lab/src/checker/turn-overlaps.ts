import { groupBy, ms } from '../../../lab/src/checker/group.ts';
import type { Violation } from '../../../lab/src/checker/history.ts';
import type { Turn } from './history.ts';

/** Two turns of one key never overlap, by the database's clock, unless one instance takes both. */
export function findTurnOverlaps(turns: readonly Turn[]): Violation[] {
  return [...groupBy(turns, ({ key }) => key).values()].flatMap(overlapsOfKey);
}

function overlapsOfKey(turns: readonly Turn[]): Violation[] {
  const lastOf = new Map<string, Turn>();
  const violations: Violation[] = [];
  for (const turn of [...turns].sort((a, b) => a.writtenAt - b.writtenAt)) {
    for (const [holder, last] of lastOf) {
      if (holder !== turn.holder && last.committedAt > turn.writtenAt) violations.push(overlap(last, turn));
    }
    const last = lastOf.get(turn.holder);
    if (last === undefined || last.committedAt < turn.committedAt) lastOf.set(turn.holder, turn);
  }
  return violations;
}

function overlap(one: Turn, next: Turn): Violation {
  const what = `${next.key}: ${next.holder} began ${ms(one.committedAt - next.writtenAt)} before the turn of ${one.holder} was over`;
  return { check: 'turn overlap', what };
}
