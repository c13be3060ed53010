import fc from 'fast-check';
import { test } from 'vitest';
import { roleLeaseProperty } from './role-lease-property.ts';

/**
 * `LEASEHOLD_MODEL_RUNS=20000` is the long one. To play one history again, give what its failure printed as
 * `LEASEHOLD_MODEL_SEED`, `LEASEHOLD_MODEL_PATH` and `LEASEHOLD_MODEL_REPLAY` (its `replayPath`).
 */
const {
  LEASEHOLD_MODEL_RUNS: runs = '500',
  LEASEHOLD_MODEL_SEED: seed,
  LEASEHOLD_MODEL_PATH: path,
  LEASEHOLD_MODEL_REPLAY: replay,
} = process.env;
const numRuns = Number(runs);
const MS_PER_RUN = 200;

test(`role leases: ${numRuns} random histories break no rule`, { timeout: 30_000 + numRuns * MS_PER_RUN }, async () => {
  const again = { ...(seed === undefined ? {} : { seed: Number(seed) }), ...(path === undefined ? {} : { path }) };
  await fc.assert(roleLeaseProperty(replay), { numRuns, ...again });
});
