import { migrationSql } from '@leasehold/core/postgres';
import type { Client } from 'pg';

/**
 * A witness that is not Leasehold's: a trigger writes down every version of every lease row. It does so while the row is
 * locked, so that the order of ids is, for each role, the order in which the versions came about.
 */
const WITNESS = `
create schema lab;

create table lab.lease_change (
  id            bigint      generated always as identity primary key,
  at            timestamptz not null default clock_timestamp(),
  role          text        not null,
  holder        text,
  fencing_token bigint      not null,
  acquired_at   timestamptz,
  expires_at    timestamptz not null
);

create function lab.witness() returns trigger language plpgsql as $$
begin
  insert into lab.lease_change (role, holder, fencing_token, acquired_at, expires_at)
  values (new.role, new.holder, new.fencing_token, new.acquired_at, new.expires_at);
  return null;
end $$;

create trigger lab_witness after insert or update on leasehold.role_lease
for each row execute function lab.witness();

create table lab.fenced_write (
  id            bigint      generated always as identity primary key,
  at            timestamptz not null default clock_timestamp(),
  role          text        not null,
  fencing_token bigint      not null,
  holder        text        not null,
  late          boolean     not null
);
`;

/** Commit times are the evidence that nothing was committed under a fence after the next term had begun. */
export const POSTGRES_FLAGS: readonly string[] = ['-c', 'track_commit_timestamp=on'];

export async function createLabSchema(client: Client): Promise<void> {
  await client.query(migrationSql());
  await client.query(WITNESS);
}
