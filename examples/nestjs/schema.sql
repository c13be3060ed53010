-- What the maintenance job writes: one row for each run.
create table if not exists maintenance_run (
  run           bigint      generated always as identity primary key,
  instance      text        not null,
  fencing_token bigint      not null,
  note          text        not null,
  ran_at        timestamptz not null default clock_timestamp()
);
