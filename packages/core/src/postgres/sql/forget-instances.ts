/** Deletes instances that have been silent for a day; once, when an instance arrives. */
export function forgetInstancesSql(schema: string): string {
  return `
delete from ${schema}.instance
where id = any (array(
  select id from ${schema}.instance
  where expires_at < clock_timestamp() - interval '1 day'
  limit 1000
  for update skip locked
))`;
}
