import { MEMBER_AFTERLIFE_MS } from '../../store/lease-store.ts';
import { DURABLE, notified } from './parts.ts';

/** The bound of the table's check constraint. */
const HIGHEST_TOKEN = '9000000000000000000';

/**
 * The heartbeat: one statement for any number of roles. Arrays go in, rows come out, and the client merges them.
 *
 * Why this shape:
 * - Renewing and taking are different: a renewal matches holder, token and an unexpired row, and never takes back what
 *   was lost; a takeover always raises the token.
 * - A renewal never moves an expiry back: if its reply is lost, the holder goes on believing in the row as it was. Only a
 *   hand that shortened lease_ms, or a clock that went back, would make it do so. One that no lease can have is mended.
 * - `skip locked` everywhere: a row that somebody has locked is passed by and reported as busy. One locked row must not
 *   starve the others. Conditions on a row that was locked are evaluated again on its newest version.
 * - `clock_timestamp()`, never `now()`, which stands still from the start of the transaction.
 * - A renewal locks `for no key update`, which passes a fence (`for key share`); a takeover locks `for update`, which does not.
 * - Updates pick their rows by `= any (array(select …))`. Joined to a CTE instead, for which the planner expects one row,
 *   the same work becomes nested loops: 22 times slower at 1,000 roles (measured on PostgreSQL 17). A plan test keeps it.
 * - A term that is taken over ends when its row is picked, before the next begins: terms in the history never overlap.
 * - Roles of partitions are taken by a declared member alone: one that the row of the instance shows as live and with the same
 *   counts *before* this statement, which cannot see its own update. Whoever has been silent for too long first declares anew.
 *   They are taken and renewed only together with that row, so that nobody holds one who is not seen as a member; and not by a
 *   statement that hung on its way until a later one of the same instance was there, which would put its declaration back.
 * - An acquisition, or another address of a holder, notifies in the same statement, so that the others learn it at once.
 */
export function heartbeatSql(schema: string): string {
  return `
with entitled as materialized (
  select from ${schema}.instance
  where id = $7 and expires_at > clock_timestamp() and membership -> 'partitions' = $13::jsonb -> 'partitions'
),
present as (
  update ${schema}.instance i
  set address = $9, expires_at = clock_timestamp() + $10 * interval '1 millisecond', membership = $13::jsonb
  where i.id = any (array(select id from ${schema}.instance where id = $7 for no key update skip locked))
    and coalesce((i.membership -> 'sequence')::bigint, 0) <= coalesce(($13::jsonb -> 'sequence')::bigint, 0)
  returning i.id
),
renewable as (
  select l.role, l.address is distinct from $9 as moved
  from unnest($1::text[], $2::bigint[]) as wanted (role, fencing_token)
  join ${schema}.role_lease l on l.role = wanted.role
  where l.holder = $7 and l.fencing_token = wanted.fencing_token and l.expires_at > clock_timestamp()
    and (not l.role = any ($14::text[]) or exists (select from present))
  for no key update of l skip locked
),
renewed as (
  update ${schema}.role_lease l
  set address = $9,
      expires_at = greatest(
        clock_timestamp() + l.lease_ms * interval '1 millisecond',
        case when l.expires_at < clock_timestamp() + interval '1 hour' then l.expires_at end
      )
  where l.role = any (array(select role from renewable))
  returning l.role, l.holder, l.address, l.fencing_token, l.lease_ms, l.expires_at
),
takeable as (
  select l.role, l.holder, l.address, l.fencing_token, l.acquired_at, least(l.expires_at, clock_timestamp()) as ended_at
  from ${schema}.role_lease l
  where l.role = any ($3::text[])
    and (l.expires_at <= clock_timestamp() or l.holder is null or l.holder = $7)
    -- Only a hand can have put a token at its bound; raising it would fail the statement, and with it every other role.
    and l.fencing_token < ${HIGHEST_TOKEN}
    and (not l.role = any ($14::text[]) or (exists (select from entitled) and exists (select from present)))
  for update of l skip locked
),
acquired as (
  update ${schema}.role_lease l
  set holder = $7,
      address = $9,
      fencing_token = greatest(l.fencing_token, least(wanted.token_floor, ${HIGHEST_TOKEN} - 1)) + 1,
      lease_ms = wanted.lease_ms,
      acquired_at = clock_timestamp(),
      expires_at = clock_timestamp() + wanted.lease_ms * interval '1 millisecond'
  from unnest($3::text[], $4::integer[], $5::bigint[]) as wanted (role, lease_ms, token_floor)
  where l.role = wanted.role and l.role = any (array(select role from takeable))
  returning l.role, l.holder, l.address, l.fencing_token, l.lease_ms, l.expires_at
),
ended as (
  insert into ${schema}.role_term (role, fencing_token, holder, address, acquired_at, ended_at, ended_by)
  select role, fencing_token, holder, address, acquired_at, ended_at,
         case when holder = $7 then 'superseded' else 'expired' end
  from takeable
  where holder is not null
  on conflict do nothing
),
forgotten as (
  delete from ${schema}.role_term t
  where t.ctid = any (array(
    select old.ctid
    from ${schema}.role_term old
    where old.role = any (array(select role from takeable)) and old.ended_at < clock_timestamp() - $12 * interval '1 millisecond'
    limit 100
    for update skip locked
  ))
),
arrived as (
  insert into ${schema}.instance (id, label, address, expires_at, membership)
  select $7, $8, $9, clock_timestamp() + $10 * interval '1 millisecond', $13::jsonb
  where not exists (select from ${schema}.instance where id = $7)
  on conflict do nothing
),
${DURABLE},
${notified({ by: '$7', channel: '$11', from: changed(schema) })},
seen as (
  select l.role, l.holder, l.address, l.fencing_token, l.lease_ms, l.expires_at
  from ${schema}.role_lease l
  where l.role = any (array(
    select asked.role
    from unnest($1::text[] || $3::text[] || $6::text[]) as asked (role)
    where asked.role not in (select role from renewed) and asked.role not in (select role from acquired)
  ))
)
select told.*,
       case
         when holder is null or expires_at = '-infinity' then 0
         when expires_at = 'infinity' then lease_ms
         else greatest(0, extract(epoch from expires_at - clock_timestamp()) * 1000)
       end::float8 as remaining_ms
from (
  select 'renewed' as told, role, holder, address, fencing_token::text, lease_ms, expires_at from renewed
  union all select 'acquired', role, holder, address, fencing_token::text, lease_ms, expires_at from acquired
  union all select 'seen', role, holder, address, fencing_token::text, lease_ms, expires_at from seen
  union all
  select 'member', id, membership::text, null, null, 0, expires_at
  from ${schema}.instance
  where $13::jsonb is not null and membership is not null
    and expires_at > clock_timestamp() - interval '${MEMBER_AFTERLIFE_MS} milliseconds'
  union all select 'entitled', '', null, null, null, 0, null from entitled
  -- A CTE that only selects is run only if somebody reads it.
  union all select 'aside', '', null, null, null, 0, null from notified
  union all select 'aside', '', null, null, null, 0, null from durable
) told`;
}

/** A member that arrives, comes back, or begins or ends to drain, is news for all: their shares are others from here on. */
function changed(schema: string): string {
  return `(
    select role from acquired
    union all select role from renewable where moved
    union all select null
    where $13::jsonb is not null and not exists (
      select from ${schema}.instance
      where id = $7 and expires_at > clock_timestamp() and membership -> 'draining' = $13::jsonb -> 'draining'
    )
  ) changed`;
}
