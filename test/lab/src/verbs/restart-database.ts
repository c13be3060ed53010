import type { DatabaseVerb } from './verb.ts';

/** The server restarts: in order, with a checkpoint. */
export const restartDatabase: DatabaseVerb = {
  kind: 'restartDatabase',
  strikes: 'database',
  lasts: [1, 1],
  strike: ({ bench }) => bench.server.restart({ mode: 'fast' }),
};

/** The server crashes, and recovers from its log. */
export const crashDatabase: DatabaseVerb = {
  kind: 'crashDatabase',
  strikes: 'database',
  lasts: [1, 1],
  strike: ({ bench }) => bench.server.restart({ mode: 'immediate' }),
};
