import type { ProcessVerb } from './verb.ts';

/** Each way; twice this is still within the deadline of a call. */
const LONGEST_DELAY_MS = 250;
const HANG_MS = 2_300;

/**
 * A line that becomes slow and then fails: the last replies that arrive are old, and belief that counted from their
 * arrival would outlast the lease.
 */
export const slowDatabase: ProcessVerb = {
  kind: 'slowDatabase',
  strikes: 'process',
  lasts: [3_500, 6_000],
  strike: async ({ slot, lastsMs, draw, bench }) => {
    slot.proxy.delay(Math.round((0.5 + draw / 2) * LONGEST_DELAY_MS));
    await bench.wait(lastsMs - HANG_MS);
    await slot.proxy.hang();
    await bench.wait(HANG_MS);
    await slot.proxy.heal();
  },
};
