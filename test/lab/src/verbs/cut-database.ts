import type { ProcessVerb } from './verb.ts';

/** The leases' connection is reset, and new ones are refused. */
export const cutDatabase: ProcessVerb = {
  kind: 'cutDatabase',
  strikes: 'process',
  lasts: [500, 5_000],
  strike: async ({ slot, lastsMs, bench }) => {
    await slot.proxy.cut();
    await bench.wait(lastsMs);
    await slot.proxy.heal();
  },
};
