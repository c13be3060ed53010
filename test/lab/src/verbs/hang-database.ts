import type { ProcessVerb } from './verb.ts';

/** Connections stay open and new ones are accepted; nothing gets through either way. */
export const hangDatabase: ProcessVerb = {
  kind: 'hangDatabase',
  strikes: 'process',
  lasts: [500, 5_000],
  strike: async ({ slot, lastsMs, bench }) => {
    await slot.proxy.hang();
    await bench.wait(lastsMs);
    await slot.proxy.heal();
  },
};
