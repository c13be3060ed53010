import type { ProcessVerb } from './verb.ts';

/** `kill -9`, and after a while another process in its place. */
export const kill: ProcessVerb = {
  kind: 'kill',
  strikes: 'process',
  lasts: [200, 3_000],
  endsInstance: true,
  strike: async ({ slot, lastsMs, bench }) => {
    await slot.worker?.kill();
    await bench.wait(lastsMs);
    await slot.spawn();
  },
};
