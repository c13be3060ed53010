import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Workload } from '../workload.ts';
import { type Loops, loops } from './loops.ts';

/** What a team writes that knows its PostgreSQL: the due order is the index, and no lock outlives the statement. */
export const CLAIM = `
  with candidate as (
    select id from deliveries
    where completed_at is null and failed_at is null and coalesce(locked_until, created_at) <= statement_timestamp()
    order by coalesce(locked_until, created_at), id
    limit $1
    for update skip locked
  )
  update deliveries
  set lock_id = $2, locked_until = clock_timestamp() + interval '2 minutes', attempts = attempts + 1
  from candidate where deliveries.id = candidate.id
  returning deliveries.*`;

/** All rows of a claim at once, and only those that still carry its token. */
const FINALIZE = `
  update deliveries
  set completed_at = clock_timestamp(), lock_id = null, locked_until = null
  from unnest($1::bigint[]) as settled (id)
  where deliveries.id = settled.id and deliveries.lock_id = $2
  returning deliveries.id`;

export function handWritten(connectionString: string, { batch, connections }: Loops): Promise<Workload> {
  return loops(connectionString, { connections, work: (pool) => claimAndSettle(pool, batch) });
}

async function claimAndSettle(pool: pg.Pool, batch: number): Promise<number> {
  const token = randomUUID();
  const { rows } = await pool.query<{ id: string }>(CLAIM, [batch, token]);
  if (rows.length === 0) return 0;
  const { rowCount } = await pool.query(FINALIZE, [rows.map(({ id }) => id), token]);
  if (rowCount !== rows.length) throw new Error(`${rows.length} rows were claimed, and ${rowCount} finalized`);
  return rows.length;
}
