import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { UntilDrained } from '../until-drained.ts';
import type { Stopwatch, Workload } from '../workload.ts';

/** As its documentation has it for its own figures; without the last three it takes and completes one by one. */
const CONCURRENCY = { concurrentJobs: 24, maxPoolSize: 25 };
const BATCHED = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

export async function graphileWorker(connectionString: string, { batched }: { readonly batched: boolean }): Promise<Workload> {
  const logger = new Logger(() => () => {});
  const pool = new pg.Pool({ connectionString, max: 1 });
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  let added = 0;
  const count = async (): Promise<{ done: number; live: number }> => {
    const { rows } = await pool.query<{ live: number }>('select count(*)::integer as live from graphile_worker._private_jobs');
    const live = rows[0]?.live ?? Number.NaN;
    // What is done is deleted.
    return { done: added - live, live };
  };
  return {
    fill: async (rows) => {
      await utils.addJobs(Array.from({ length: rows }, (_, n) => ({ identifier: 'nothing', payload: { n } })));
      added += rows;
    },
    count,
    drain: async (rows: number, stopwatch: Stopwatch) => {
      const drained = new UntilDrained(rows, stopwatch);
      const runner = await run({
        preset: { worker: { connectionString, logger, ...CONCURRENCY, ...(batched ? BATCHED : {}) } },
        noHandleSignals: true,
        taskList: { nothing: () => drained.handled() },
      });
      await drained.wait(async () => (await count()).live === 0);
      await runner.stop();
    },
    close: async () => {
      await utils.release();
      await pool.end();
    },
  };
}
