/**
 * Creates vacant rows for roles that have none, with at least the highest token that this instance has seen: should
 * somebody have deleted a row, its tokens go on from there. Apart from the heartbeat, because inserting a key may wait for
 * another transaction that inserts it, and a heartbeat waits for nobody.
 */
export function createRowsSql(schema: string): string {
  return `
insert into ${schema}.role_lease (role, fencing_token)
select role, least(token_floor, 8999999999999999999)
from unnest($1::text[], $2::bigint[]) as wanted (role, token_floor)
order by role
on conflict do nothing`;
}
