/**
 * The fence, inside the caller's transaction: the row, if it is still this term's and unexpired, locked `for key share`.
 *
 * That lock conflicts only with changes of key columns. A takeover changes fencing_token (a key column by the unique
 * constraint) and passes the row by until this transaction ends; a renewal goes through. With `for share` the holder would
 * block its own renewals.
 */
export function fenceSql(schema: string): string {
  return `
select role
from ${schema}.role_lease
where role = $1 and holder = $2 and fencing_token = $3::bigint and expires_at > clock_timestamp()
for key share`;
}
