import { PgBoss } from 'pg-boss';
import pg from 'pg';
import { HISTORY } from '../table.ts';
import { UntilDrained } from '../until-drained.ts';
import type { Counted, Stopwatch, Workload } from '../workload.ts';
import type { Loops } from './loops.ts';

const QUEUE = 'nothing';
const AT_ONCE = 10_000;
const ANY_LIVE = `select from pgboss.job where name = $1 and state < 'completed' limit 1`;
const COUNT = `
  select count(*) filter (where state = 'completed')::integer as done, count(*) filter (where state <> 'completed')::integer as live
  from pgboss.job where name = $1`;

interface Opened extends Omit<Workload, 'drain'> {
  readonly isDrained: () => Promise<boolean>;
  readonly boss: PgBoss;
}

async function open(connectionString: string, connections: number): Promise<Opened> {
  // Without what it does beside: that would be measured with whichever contestant is at work.
  const boss = new PgBoss({ connectionString, max: connections, supervise: false, schedule: false });
  const pool = new pg.Pool({ connectionString, max: 1 });
  await boss.start();
  await boss.createQueue(QUEUE);
  await insert(boss, HISTORY);
  await pool.query(`update pgboss.job set state = 'completed', completed_on = now() where name = $1`, [QUEUE]);
  return {
    boss,
    fill: (rows) => insert(boss, rows),
    count: async () => (await pool.query<Counted>(COUNT, [QUEUE])).rows[0] ?? { done: 0, live: Number.NaN },
    isDrained: async () => (await pool.query(ANY_LIVE, [QUEUE])).rowCount === 0,
    close: async () => {
      await boss.stop();
      await pool.end();
    },
  };
}

async function insert(boss: PgBoss, rows: number): Promise<void> {
  const jobs = Array.from({ length: AT_ONCE }, (_, n) => ({ data: { n } }));
  for (let inserted = 0; inserted < rows; inserted += AT_ONCE) await boss.insert(QUEUE, jobs.slice(0, rows - inserted));
}

/** `fetch` and `complete`, batch after batch. */
export async function pgBossFetch(connectionString: string, { batch, connections }: Loops): Promise<Workload> {
  const { boss, ...opened } = await open(connectionString, connections);
  const loop = async (): Promise<void> => {
    for (;;) {
      const jobs = await boss.fetch(QUEUE, { batchSize: batch });
      if (jobs.length === 0) return;
      await boss.complete(
        QUEUE,
        jobs.map(({ id }) => id),
      );
    }
  };
  return {
    ...opened,
    drain: async (_rows: number, stopwatch: Stopwatch) => {
      stopwatch.begin();
      await Promise.all(Array.from({ length: connections }, loop));
      stopwatch.end();
    },
  };
}

/** `work`, which waits between two fetches unless it is told that a full one means that there is more. */
export async function pgBossWork(connectionString: string, { batch, connections }: Loops): Promise<Workload> {
  const { boss, isDrained, ...opened } = await open(connectionString, connections);
  return {
    ...opened,
    drain: async (rows: number, stopwatch: Stopwatch) => {
      const drained = new UntilDrained(rows, stopwatch);
      const options = { batchSize: batch, localConcurrency: connections, burstWhenBatchFull: true };
      await boss.work(QUEUE, options, async (jobs) => drained.handled(jobs.length));
      await drained.wait(isDrained);
      await boss.offWork(QUEUE);
    },
  };
}
