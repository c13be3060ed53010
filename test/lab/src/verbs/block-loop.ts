import type { ProcessVerb } from './verb.ts';

/** The process computes and its event loop stands still; `isHeld` must turn false by itself meanwhile. */
export const blockLoop: ProcessVerb = {
  kind: 'blockLoop',
  strikes: 'process',
  lasts: [300, 4_000],
  strike: async ({ slot, lastsMs, bench }) => {
    slot.worker?.tell({ do: 'blockLoop', ms: lastsMs });
    await bench.wait(lastsMs);
  },
};
