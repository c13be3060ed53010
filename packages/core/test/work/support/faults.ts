import { startTcpProxy, type TcpProxy } from '../../../../testing/src/index.ts';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { TestDatabase } from '../../../../../test/support/database.ts';

export interface FaultyPool {
  readonly proxy: TcpProxy;
  readonly pool: pg.Pool;
}

/** A pool with a network of its own, which can be made to fail. It has no listener for errors. */
export async function faultyPool(database: TestDatabase, max = 5): Promise<FaultyPool> {
  const proxy = await startTcpProxy({ targetPort: Number(new URL(database.connectionString).port) });
  const pool = new pg.Pool({
    connectionString: proxy.connectionString(database.connectionString),
    application_name: database.schema,
    max,
  });
  onTestFinished(async () => {
    await proxy.heal();
    await pool.end();
    await proxy.stop();
  });
  return { proxy, pool };
}

export interface Backend {
  readonly pid: number;
  readonly waits: boolean;
}

/** Backends of the faulty pool that are running a statement. */
export function busyBackends({ query, schema }: TestDatabase): Promise<Backend[]> {
  return query(
    `select pid, wait_event_type = 'Lock' as waits from pg_stat_activity where application_name = $1 and state <> 'idle' order by pid`,
    [schema],
  );
}
