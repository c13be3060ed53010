-- The business.
create table if not exists orders (
  id         uuid        primary key,
  item       text        not null,
  quantity   int         not null check (quantity > 0),
  created_at timestamptz not null default clock_timestamp()
);

-- What the rest of the world is to be told, written in the transaction of the order.
create table if not exists outbox (
  -- Also the idempotency key of whoever is told.
  id           uuid        primary key default gen_random_uuid(),
  -- The holder of this role delivers it; null: whoever comes first.
  target_role  text,
  topic        text        not null,
  payload      jsonb       not null,
  created_at   timestamptz not null default clock_timestamp(),
  delivered_at timestamptz,
  dead_at      timestamptz,
  attempts     int         not null default 0,
  error        text
);

-- Stands for the targets. The key is why a repetition has no second effect.
create table if not exists effects (
  envelope_id   uuid        primary key,
  order_id      uuid        not null,
  role          text,
  instance      text        not null,
  fencing_token bigint,
  written_at    timestamptz not null default clock_timestamp(),
  -- How often it was told again what it knew.
  repeats       int         not null default 0
);

-- What shipping can ship: an order of anything else is poison.
create table if not exists stock (
  item text primary key
);

insert into stock (item) values ('book'), ('lamp'), ('chair') on conflict do nothing;
