-- The application's own table. What `deliveries.ddl()` adds to it, each worker sees to at its start.
create table if not exists deliveries (
  id           uuid        primary key default gen_random_uuid(),
  url          text        not null,
  payload      jsonb       not null,
  created_at   timestamptz not null default now(),
  completed_at timestamptz,
  failed_at    timestamptz,
  attempts     int         not null default 0,
  error        text,
  worker       text
);
