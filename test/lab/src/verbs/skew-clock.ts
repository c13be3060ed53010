import type { ProcessVerb } from './verb.ts';

const HOUR_MS = 3_600_000;

/**
 * The wall clock of the process jumps up to an hour forward or back. (Each process starts with one that is off by an
 * hour, too, or right.) Forward it may cost a term; neither may ever prolong one.
 */
export const skewClock: ProcessVerb = {
  kind: 'skewClock',
  strikes: 'process',
  lasts: [500, 2_000],
  strike: async ({ slot, lastsMs, draw, bench }) => {
    slot.worker?.tell({ do: 'jumpWall', ms: Math.round((draw * 2 - 1) * HOUR_MS) });
    await bench.wait(lastsMs);
  },
};
