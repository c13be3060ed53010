import { sql, type SqlClient, type WorkTable } from '@leasehold/core/work';
import pg from 'pg';
import { countingDeliveries, countTable, createTable, deliveries, fillTable, isDrained, type Row } from '../table.ts';
import { UntilDrained } from '../until-drained.ts';
import type { Stopwatch, Workload } from '../workload.ts';
import { type Loops, loops } from './loops.ts';

export const CLAIM_OPTIONS = { lease: '2m', onClaim: { attempts: sql`attempts + 1` } } as const;

export async function leasehold(connectionString: string, { batch, connections }: Loops): Promise<Workload> {
  const table = deliveries();
  return loops(connectionString, {
    connections,
    work: (client) => claimAndSettle(table, client, { ...CLAIM_OPTIONS, limit: batch }),
  });
}

export async function leaseholdCounting(connectionString: string, { batch, connections }: Loops): Promise<Workload> {
  const table = countingDeliveries();
  return loops(connectionString, { connections, work: (client) => claimAndSettle(table, client, { lease: '2m', limit: batch }) });
}

async function claimAndSettle(
  table: WorkTable<Row>,
  client: SqlClient,
  options: Parameters<WorkTable<Row>['claim']>[1],
): Promise<number> {
  const claim = await table.claim(client, options);
  const fates = await claim.settle(claim.rows.map((row) => ({ row, outcome: 'done' })));
  if (fates.some((fate) => fate !== 'done')) throw new Error(`of a claim, rows were ${fates.join(', ')}`);
  return fates.length;
}

/** As many handlers and as many rows ahead as graphile-worker has. */
const WORK_OPTIONS = { lease: '2m', concurrency: 24, prefetch: 500 } as const;

/** The worker loop, with handlers that do nothing. */
export async function leaseholdWork(connectionString: string, { connections }: Pick<Loops, 'connections'>): Promise<Workload> {
  const table = countingDeliveries();
  const pool = new pg.Pool({ connectionString, max: connections });
  await createTable(pool);
  return {
    fill: (rows) => fillTable(pool, rows),
    count: () => countTable(pool),
    close: () => pool.end(),
    drain: async (rows: number, stopwatch: Stopwatch) => {
      const drained = new UntilDrained(rows, stopwatch);
      const worker = table.work(pool, { ...WORK_OPTIONS, handler: () => drained.handled() });
      await drained.wait(() => isDrained(pool));
      await worker.stop();
    },
  };
}
