import type { TestDatabase } from '../../../../../test/support/database.ts';

/** Has the database itself write down every change of a row, with the clock that leases run by. */
export async function keepJournal({ query, schema }: TestDatabase): Promise<void> {
  await query(`
    create table ${schema}.journal (
      n bigint generated always as identity, id bigint, old_token uuid, new_token uuid, was_running bool, was_over bool, is_over bool,
      attempts_added int
    )`);
  await query(`
    create function ${schema}.keep() returns trigger language plpgsql as $$ begin
      insert into ${schema}.journal (id, old_token, new_token, was_running, was_over, is_over, attempts_added)
      values (old.id, old.lock_id, new.lock_id, old.lock_id is not null and old.locked_until > clock_timestamp(),
              old.completed_at is not null or old.failed_at is not null, new.completed_at is not null or new.failed_at is not null,
              new.attempts - old.attempts);
      return new;
    end $$`);
  await query(`create trigger keep after update on ${schema}.deliveries for each row execute function ${schema}.keep()`);
}

/** What must never be in the journal, by name; empty when all is well. */
export async function violations({ query, schema }: TestDatabase): Promise<string[]> {
  const rows = await query<{ what: string }>(`
    with changes as (
      select *, new_token is distinct from old_token and new_token is not null as takes,
             lag(new_token) over (partition by id order by n) as before, row_number() over (partition by id order by n) as nth
      from ${schema}.journal
    )
    select 'taken while its lease ran: ' || id as what from changes where takes and was_running
    union all select 'written after its end: ' || id from changes where was_over
    union all select 'not one claim after the other: ' || id from changes where nth > 1 and before is distinct from old_token
    union all select 'an attempt counted without a claim: ' || id from changes where attempts_added > 0 and not takes
    union all select 'more than one attempt at once: ' || id from changes where attempts_added not in (-1, 0, 1)
    union all
    select 'attempts are not claims less refunds: ' || d.id
    from ${schema}.deliveries d
    where d.attempts <> (
      select count(*) filter (where takes and not is_over) - count(*) filter (where attempts_added < 0) from changes where changes.id = d.id
    )
    union all
    select 'has not ended once: ' || d.id
    from ${schema}.deliveries d
    where 1 <> (select count(*) from changes where changes.id = d.id and is_over and not was_over)`);
  return rows.map(({ what }) => what);
}
