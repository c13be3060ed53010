import type { ProcessVerb } from './verb.ts';

/** The instance gives up some of its roles, which spreads them over the others. */
export const stepDown: ProcessVerb = {
  kind: 'stepDown',
  strikes: 'process',
  lasts: [500, 3_000],
  strike: async ({ slot, lastsMs, draw, bench }) => {
    const everyNth = 2 + Math.floor(draw * 3);
    const roles = bench.roles.filter((_, index) => index % everyNth === 0);
    slot.worker?.tell({ do: 'stepDown', roles, standAsideMs: lastsMs });
    await bench.wait(lastsMs);
  },
};
