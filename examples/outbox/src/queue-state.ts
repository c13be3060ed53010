import type { Pool } from 'pg';

/** The envelopes of one target. */
export interface TargetState {
  /** Null: of those for whoever comes first. */
  readonly role: string | null;
  /** The id of the instance. */
  readonly holder: string | null;
  readonly due: number;
  readonly leased: number;
  readonly waiting: number;
  readonly delivered: number;
  readonly dead: number;
}

/** By the clock of the database, as leases are. */
const STATE = `
  with clock as materialized (select clock_timestamp() as now),
  target as (select unnest(array['billing', 'shipping', null]) as role),
  live as (
    select *, delivered_at is null and dead_at is null as live, coalesce(locked_until, '-infinity') <= clock.now as due from outbox, clock
  )
  select target.role, lease.holder,
    count(*) filter (where live.live and live.due)::int as due,
    count(*) filter (where live.live and not live.due and lock_id is not null)::int as leased,
    count(*) filter (where live.live and not live.due and lock_id is null)::int as waiting,
    count(delivered_at)::int as delivered,
    count(dead_at)::int as dead
  from target
  left join live on live.target_role is not distinct from target.role
  left join leasehold.role_lease lease on lease.role = target.role and lease.expires_at > (select now from clock)
  group by target.role, lease.holder
  order by target.role`;

/** It reads the whole table: for an example. `outbox.counts()` reads what is live alone. */
export async function readQueue(pool: Pool): Promise<readonly TargetState[]> {
  return (await pool.query<TargetState>(STATE)).rows;
}
