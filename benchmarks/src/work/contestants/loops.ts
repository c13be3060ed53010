import pg from 'pg';
import { countTable, createTable, fillTable } from '../table.ts';
import type { Stopwatch, Workload } from '../workload.ts';

export interface Loops {
  readonly batch: number;
  readonly connections: number;
}

interface LoopOptions {
  readonly connections: number;
  /** Answers how many rows were settled. */
  readonly work: (pool: pg.Pool) => Promise<number>;
}

/** Batch after batch on each connection, until there is nothing left. */
export async function loops(connectionString: string, { connections, work }: LoopOptions): Promise<Workload> {
  const pool = new pg.Pool({ connectionString, max: connections });
  await createTable(pool);
  const loop = async (): Promise<void> => {
    while ((await work(pool)) > 0);
  };
  return {
    fill: (rows) => fillTable(pool, rows),
    count: () => countTable(pool),
    close: () => pool.end(),
    drain: async (_rows: number, stopwatch: Stopwatch) => {
      stopwatch.begin();
      await Promise.all(Array.from({ length: connections }, loop));
      stopwatch.end();
    },
  };
}
