import type { ClientBase, Pool } from 'pg';

/** What PostgreSQL says of it, whoever did it. All but the totals have to be 0 once the queue is empty. */
export interface Audit {
  readonly orders: number;
  readonly effects: number;
  /** Targets were told again what they knew, and did nothing. */
  readonly repeats: number;
  /** Targets of an order that do not have exactly one effect of exactly one envelope. */
  readonly notOnce: number;
  /** Envelopes that are not delivered. */
  readonly undelivered: number;
  /** Envelopes or effects without their order. */
  readonly withoutOrder: number;
  /** Effects by a process that did not hold the role at that time, or under a token that was not its own. */
  readonly byNonHolders: number;
  /** Terms of one role that overlap, or whose token is not higher than that of the one before. */
  readonly wrongTerms: number;
}

const AUDIT = `
  with term as (
    select role, fencing_token, holder, acquired_at, ended_at from leasehold.role_term
    union all
    select role, fencing_token, holder, acquired_at, null from leasehold.role_lease where holder is not null
  ),
  ordered as (
    select *, lag(ended_at) over by_time as last_ended_at, lag(fencing_token) over by_time as last_token
    from term window by_time as (partition by role order by acquired_at)
  ),
  told as (
    select orders.id, target, count(distinct outbox.id) as envelopes, count(effects.envelope_id) as effects
    from orders cross join unnest(array['billing', 'shipping', null]) target
    left join outbox on (outbox.payload ->> 'id')::uuid = orders.id and outbox.target_role is not distinct from target
    left join effects on effects.envelope_id = outbox.id
    group by orders.id, target
  )
  select
    (select count(*)::int from orders) as orders,
    (select count(*)::int from effects) as effects,
    (select coalesce(sum(repeats), 0)::int from effects) as repeats,
    (select count(*)::int from told where envelopes <> 1 or effects <> 1) as "notOnce",
    (select count(*)::int from outbox where delivered_at is null) as undelivered,
    (select count(*)::int from (select (payload ->> 'id')::uuid as id from outbox union all select order_id from effects) one
      where not exists (select from orders where orders.id = one.id)) as "withoutOrder",
    (select count(*)::int from effects e where e.role is not null and not exists (
      select from term t where t.role = e.role and t.fencing_token = e.fencing_token and t.holder = e.instance
      and e.written_at >= t.acquired_at and e.written_at <= coalesce(t.ended_at, 'infinity')
    )) as "byNonHolders",
    (select count(*)::int from ordered where acquired_at < last_ended_at or fencing_token <= last_token) as "wrongTerms"`;

export async function audit(client: Pool | ClientBase): Promise<Audit> {
  return (await client.query<Audit>(AUDIT)).rows[0] as Audit;
}
