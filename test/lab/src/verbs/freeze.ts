import type { ProcessVerb } from './verb.ts';

/** `SIGSTOP`, and `SIGCONT` later: a suspended machine, a long collection of garbage, a starved container. */
export const freeze: ProcessVerb = {
  kind: 'freeze',
  strikes: 'process',
  lasts: [500, 5_000],
  strike: async ({ slot, lastsMs, bench }) => {
    const { worker } = slot;
    worker?.freeze();
    await bench.wait(lastsMs);
    worker?.thaw();
  },
};
