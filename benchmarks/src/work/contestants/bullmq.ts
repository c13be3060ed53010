import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq';
import pg from 'pg';
import { UntilDrained } from '../until-drained.ts';
import type { Stopwatch, Workload } from '../workload.ts';

const QUEUE = 'nothing';
const AT_ONCE = 1_000;
/** The upper end of what its documentation has figures for. */
const CONCURRENCY = 32;

/** BullMQ on its PostgreSQL backend: jobs are taken and completed one by one. */
export async function bullmq(connectionString: string): Promise<Workload> {
  const pool = new pg.Pool({ connectionString, max: 1 });
  const client = await pool.connect();
  await runMigrations(client);
  client.release();
  const options = { connection: { connectionString, max: CONCURRENCY } };
  const queue = new Queue(QUEUE, options, createPostgresBackend);
  const count = async (): Promise<{ done: number; live: number }> => {
    const counts = await queue.getJobCounts('completed', 'active', 'waiting', 'prioritized');
    const done = counts['completed'] ?? 0;
    return { done, live: Object.values(counts).reduce((sum, one) => sum + one, 0) - done };
  };
  return {
    fill: async (rows) => {
      for (let added = 0; added < rows; added += AT_ONCE) {
        await queue.addBulk(Array.from({ length: Math.min(AT_ONCE, rows - added) }, (_, n) => ({ name: QUEUE, data: { n } })));
      }
    },
    count,
    drain: async (rows: number, stopwatch: Stopwatch) => {
      const drained = new UntilDrained(rows, stopwatch);
      const worker = new Worker(
        QUEUE,
        async () => drained.handled(),
        { ...options, concurrency: CONCURRENCY },
        createPostgresBackend,
      );
      await drained.wait(async () => (await count()).live === 0);
      await worker.close();
    },
    close: async () => {
      await queue.close();
      await pool.end();
    },
  };
}
