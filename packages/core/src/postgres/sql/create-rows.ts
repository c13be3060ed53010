/**
 * Creates vacant rows for roles that have none, with at least the highest token that this instance has seen: should
 * somebody have deleted a row, its tokens go on from there. Apart from the heartbeat, because inserting a key may wait for
 * another transaction that inserts it, and a heartbeat waits for nobody. `lock_timeout` bounds that wait: it is set by the
 * statement for itself, since nothing may be set for a session that a pooler owns.
 */
export function createRowsSql(schema: string): string {
  return `
with patience as materialized (
  select set_config('lock_timeout', $3, true)
)
insert into ${schema}.role_lease (role, fencing_token)
select role, least(token_floor, 8999999999999999999)
from unnest($1::text[], $2::bigint[]) as wanted (role, token_floor), patience
order by role
on conflict do nothing`;
}
