import type { DatabaseVerb } from './verb.ts';

/** Every process of the server stands still. What was sent meanwhile takes effect when it wakes, however late. */
export const freezeDatabase: DatabaseVerb = {
  kind: 'freezeDatabase',
  strikes: 'database',
  lasts: [300, 4_000],
  strike: async ({ bench, lastsMs }) => {
    await bench.server.freeze();
    await bench.wait(lastsMs);
    bench.server.thaw();
  },
};
