/**
 * Parts that the heartbeat and the release share, as common table expressions. Each has to be read in the statement's
 * result: one that only selects is run only if somebody reads it.
 */

/**
 * Has the commit wait for the disk also where `synchronous_commit` is off. Otherwise the database would forget, in a crash,
 * an acquisition in which its holder believes, and give its token out again.
 */
export const DURABLE = `durable as (
  select set_config('synchronous_commit', 'local', true)
  where current_setting('synchronous_commit') = 'off'
)`;

export interface NotifiedParts {
  /** The parameter that holds the id of the instance. */
  readonly by: string;
  /** The parameter that holds the channel. */
  readonly channel: string;
  /** The roles that changed hands, as rows with a column `role`; null for news that are about no role in particular. */
  readonly from: string;
}

/**
 * Wakes the others where anything changed hands. Names the roles while they fit: a payload is less than 8,000 bytes. Not
 * where the queue of notifications is nearly full, since some listener of the application has hung in a transaction: one
 * too many would fail the statement, and with it every role.
 */
export function notified({ by, channel, from }: NotifiedParts): string {
  return `notified as (
  select pg_notify(${channel}, case when is_named and octet_length(named) < 7000 then named else everything end)
  from (
    select json_build_object('by', ${by}::text, 'roles', json_agg(role))::text as named,
           json_build_object('by', ${by}::text)::text as everything,
           bool_and(role is not null) as is_named
    from ${from}
    having count(*) > 0 and pg_notification_queue_usage() < 0.9
  ) payload
)`;
}
