import type { Client } from 'pg';
import { deliveries } from '../table.ts';

/** The application's own table, before it is made a work table; and the business rows that some workers write beside it. */
const APPLICATION = `
create table public.delivery (
  id          bigint      generated always as identity primary key,
  created_at  timestamptz not null default clock_timestamp(),
  nature      text        not null default 'plain',
  amount      integer     not null default 0,
  attempts    integer     not null default 0,
  finished_at timestamptz,
  buried_at   timestamptz,
  reason      text,
  error       text,
  asked_ms    integer,
  written_by  uuid,
  via         text
);

create schema lab;

create table lab.booking (
  id     bigint generated always as identity primary key,
  row_id bigint not null,
  claim  uuid   not null,
  xid    xid8   not null default pg_current_xact_id()
);

create table lab.removed (row_id bigint primary key);
`;

/**
 * A witness that is not Leasehold's: a trigger writes down every version of every row, and whose session wrote it. It does so
 * while the row is locked, so that the order of ids is, for each row, the order in which the versions came about.
 */
const WITNESS = `
create table lab.version (
  id         bigint      generated always as identity,
  op         text        not null,
  row_id     bigint      not null,
  at         timestamptz not null default clock_timestamp(),
  began      timestamptz not null default now(),
  xid        xid8        not null default pg_current_xact_id(),
  by         text        not null default current_setting('application_name'),
  created    timestamptz not null,
  token      uuid,
  until      timestamptz,
  attempts   integer     not null,
  amount     integer     not null,
  finished   timestamptz,
  buried     timestamptz,
  written_by uuid,
  via        text,
  asked_ms   integer,
  error      text
);

create function lab.witness() returns trigger language plpgsql as $$
declare
  r public.delivery := case when tg_op = 'DELETE' then old else new end;
begin
  insert into lab.version (op, row_id, created, token, until, attempts, amount, finished, buried, written_by, via, asked_ms, error)
  values (
    tg_op, r.id, r.created_at, r.lock_id, r.locked_until, r.attempts, r.amount,
    r.finished_at, r.buried_at, r.written_by, r.via, r.asked_ms, r.error
  );
  return null;
end $$;

create trigger lab_witness after insert or update or delete on public.delivery
for each row execute function lab.witness();
`;

export async function createWorkLabSchema(client: Client): Promise<void> {
  await client.query(APPLICATION);
  await client.query(deliveries.ddl());
  await client.query(WITNESS);
}
