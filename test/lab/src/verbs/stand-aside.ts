import type { ProcessVerb } from './verb.ts';

/** The instance gives up everything and does not compete for a while, as before a deploy. */
export const standAside: ProcessVerb = {
  kind: 'standAside',
  strikes: 'process',
  lasts: [500, 4_000],
  strike: async ({ slot, lastsMs, bench }) => {
    slot.worker?.tell({ do: 'standAside', ms: lastsMs });
    await bench.wait(lastsMs);
  },
};
