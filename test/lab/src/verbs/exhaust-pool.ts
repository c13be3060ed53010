import type { ProcessVerb } from './verb.ts';

/** The application takes every client of its own pool. Its leases do not live there and must not notice. */
export const exhaustPool: ProcessVerb = {
  kind: 'exhaustPool',
  strikes: 'process',
  harmless: true,
  lasts: [500, 4_000],
  strike: async ({ slot, lastsMs, bench }) => {
    slot.worker?.tell({ do: 'exhaustPool', ms: lastsMs });
    await bench.wait(lastsMs);
  },
};
