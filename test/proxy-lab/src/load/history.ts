import { collect } from '../../../lab/src/database/collect.ts';
import { withClient } from '../../../support/with-client.ts';
import type { LoadHistory } from '../checker/judge.ts';
import type { Outcome } from '../client/outcome.ts';
import { LIMITS } from '../instance/config.ts';
import { readRuns } from '../processes/read-runs.ts';
import type { Town } from '../processes/town.ts';

/** Puts together what clients, instances and the database saw. */
export async function loadHistory(town: Town, outcomes: readonly Outcome[]): Promise<LoadHistory> {
  const { changes } = await withClient(town.databaseUrl, collect);
  const { runs, stalls } = await readRuns(town.folder);
  return {
    outcomes,
    runs,
    changes,
    clock: await town.clock.stop(),
    fates: town.everyone.map(({ instance, endedFrom }) => ({ instance, endedFrom })),
    stalls,
    ownStalls: town.ownStalls,
    headMs: LIMITS.connect + LIMITS.head,
  };
}
