import type { ProcessVerb } from './verb.ts';

/** What is asked takes effect in the database, and the answer never arrives. */
export const loseReplies: ProcessVerb = {
  kind: 'loseReplies',
  strikes: 'process',
  lasts: [500, 5_000],
  strike: async ({ slot, lastsMs, bench }) => {
    await slot.proxy.dropReplies();
    await bench.wait(lastsMs);
    await slot.proxy.heal();
  },
};
