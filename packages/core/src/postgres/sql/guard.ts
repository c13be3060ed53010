/** Raises the highest token seen for a resource, and answers no row when a higher one was seen before. */
export function guardSql(schema: string): string {
  return `
insert into ${schema}.fence_guard as guard (resource, fencing_token)
values ($1, $2::bigint)
on conflict (resource) do update
set fencing_token = excluded.fencing_token, updated_at = clock_timestamp()
where guard.fencing_token <= excluded.fencing_token
returning fencing_token`;
}
