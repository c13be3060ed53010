import { groupBy } from '../../../lab/src/checker/group.ts';
import type { Outcome } from './history.ts';

export interface Outage {
  readonly key: string;
  readonly ms: number;
  /** When the first request was sent that was not answered by an owner. */
  readonly from: number;
}

/**
 * Every time in which a key had no owner for its clients: from the sending of the first request that was refused to the first
 * answer of an owner to one that was sent later. One that does not end within the outcomes lasts until the last of them.
 */
export function outagesOf(outcomes: readonly Outcome[]): Outage[] {
  return [...groupBy(outcomes, ({ key }) => key)].flatMap(([key, ofKey]) => outagesOfKey(key, ofKey));
}

function outagesOfKey(key: string, outcomes: readonly Outcome[]): Outage[] {
  const outages: Outage[] = [];
  let from: number | null = null;
  let last = 0;
  for (const { startedAt, endedAt, by } of [...outcomes].sort((a, b) => a.startedAt - b.startedAt)) {
    last = Math.max(last, endedAt);
    if (by === null) from ??= startedAt;
    else if (from !== null) {
      outages.push({ key, from, ms: (endedAt - from) / 1_000 });
      from = null;
    }
  }
  return from === null ? outages : [...outages, { key, from, ms: (last - from) / 1_000 }];
}
