import type { Fate, OutcomeName } from '../fate.ts';

const OF_OUTCOME = { done: 'done', retry: 'retried', release: 'released', bury: 'buried' } as const;

/** What a worker has counted since its start. */
export class Counters {
  claims = 0;
  emptyClaims = 0;
  claimed = 0;
  done = 0;
  retried = 0;
  released = 0;
  buried = 0;
  lost = 0;
  abandoned = 0;
  failed = 0;
  timedOut = 0;

  claim(rows: number, buried: number): void {
    this.claims += 1;
    this.claimed += rows;
    this.buried += buried;
    if (rows + buried === 0) this.emptyClaims += 1;
  }

  settled(outcome: OutcomeName, fate: Fate | null): void {
    if (fate === null) this.abandoned += 1;
    else if (fate === 'done') this[OF_OUTCOME[outcome]] += 1;
    else this.lost += 1;
  }
}
