-- The devices that there are.
create table if not exists device (
  id text primary key
);

insert into device (id) select 'device-' || number from generate_series(1, 160) number on conflict do nothing;

-- Every command, written by the owner of the device before it is sent.
create table if not exists device_command (
  id            text        primary key,
  device        text        not null references device,
  role          text        not null,
  instance      text        not null,
  fencing_token bigint      not null,
  written_at    timestamptz not null default clock_timestamp()
);
