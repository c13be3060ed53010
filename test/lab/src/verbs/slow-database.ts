import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessVerb } from './verb.ts';

const LONGEST_DELAY_MS = 400;
/** What is on its way when the delay ends still arrives late. */
const REST_MS = LONGEST_DELAY_MS;

/** Every message takes longer, so that replies arrive when they are nearly, or quite, too old. */
export const slowDatabase: ProcessVerb = {
  kind: 'slowDatabase',
  strikes: 'process',
  lasts: [1_000, 5_000],
  strike: async ({ slot, lastsMs, draw, bench }) => {
    slot.proxy.delay(Math.round(draw * LONGEST_DELAY_MS));
    await bench.wait(lastsMs);
    await slot.proxy.heal();
    await sleep(REST_MS);
  },
};
