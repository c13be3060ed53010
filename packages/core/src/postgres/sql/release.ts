import { DURABLE, notified } from './parts.ts';

/** A member that goes away is news for all: they have more to hold from here on. */
const CHANGED = '(select role from released union all select null from gone where membership is not null) changed';

/**
 * Gives roles back: the row becomes a tombstone that keeps its token, the term goes into the history, and the others are
 * woken, in one statement. A null token stands for a role that this instance may hold without knowing the token, after a
 * lost reply. Releasing changes no key column, so it passes a fence that is still held; the successor then waits for that.
 */
export function releaseSql(schema: string): string {
  return `
with releasable as (
  select l.role, l.holder, l.address, l.fencing_token, l.acquired_at, l.expires_at
  from unnest($1::text[], $2::bigint[]) as given (role, fencing_token)
  join ${schema}.role_lease l on l.role = given.role
  where l.holder = $3 and (given.fencing_token is null or l.fencing_token = given.fencing_token)
  for no key update of l skip locked
),
released as (
  update ${schema}.role_lease l
  set holder = null, address = null, expires_at = '-infinity'
  where l.role = any (array(select role from releasable))
  returning l.role
),
ended as (
  insert into ${schema}.role_term (role, fencing_token, holder, address, acquired_at, ended_at, ended_by)
  select role, fencing_token, holder, address, acquired_at, least(expires_at, clock_timestamp()), 'released'
  from releasable
  on conflict do nothing
),
gone as (
  delete from ${schema}.instance i
  where $4::boolean and i.id = any (array(select id from ${schema}.instance where id = $3 for update skip locked))
  returning i.membership
),
${DURABLE},
${notified({ by: '$3', channel: '$5', from: CHANGED })}
select 'released' as told, role from released
union all
-- Still this term's in the row, and not released: somebody has it locked.
select 'locked', l.role
from unnest($1::text[], $2::bigint[]) as given (role, fencing_token)
join ${schema}.role_lease l on l.role = given.role
where l.holder = $3
  and (given.fencing_token is null or l.fencing_token = given.fencing_token)
  and l.role not in (select role from released)
-- A CTE that only selects is run only if somebody reads it.
union all select 'aside', '' from notified
union all select 'aside', '' from durable`;
}
