-- One row per role, for ever: a release leaves a tombstone, so that a token never goes back.
create table {schema}.role_lease (
  role          text        primary key check (char_length(role) between 1 and 128),
  holder        text,
  address       text,
  -- The upper bound keeps a mistyped token from making every later takeover overflow.
  fencing_token bigint      not null default 0 check (fencing_token between 0 and 9000000000000000000),
  -- The holder's own duration: observers with other settings judge by the row, and a renewal needs no parameter for it.
  lease_ms      integer     not null default 0 check (lease_ms between 0 and 3600000),
  acquired_at   timestamptz,
  expires_at    timestamptz not null default '-infinity',
  -- Makes the token a key column. A takeover, which changes it, then waits for a fence (FOR KEY SHARE), and a renewal,
  -- which does not, passes. Without this constraint there is no fence.
  unique (role, fencing_token)
) with (fillfactor = 50);  -- Room on the page keeps every renewal a HOT update. No index on expires_at, which would end that.

comment on table {schema}.role_lease is 'Leasehold: who holds which role. Change nothing by hand: a holder whose row is changed believes in it until its next heartbeat. To free a role, stop its holder.';

-- One row per ended term.
create table {schema}.role_term (
  role          text        not null,
  fencing_token bigint      not null,
  holder        text        not null,
  address       text,
  acquired_at   timestamptz,
  ended_at      timestamptz not null,
  -- released: given back. expired: ran out, and another took it. superseded: the same instance took it anew.
  ended_by      text        not null check (ended_by in ('released', 'expired', 'superseded')),
  primary key (role, fencing_token)
);

comment on table {schema}.role_term is 'Leasehold: the history of terms that ended.';

-- Live members.
create table {schema}.instance (
  id            text        primary key,
  label         text        not null,
  address       text,
  started_at    timestamptz not null default clock_timestamp(),
  expires_at    timestamptz not null
) with (fillfactor = 50);

comment on table {schema}.instance is 'Leasehold: the instances that beat lately.';

-- The highest token that has written to a resource.
create table {schema}.fence_guard (
  resource      text        primary key check (char_length(resource) between 1 and 512),
  fencing_token bigint      not null,
  updated_at    timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

comment on table {schema}.fence_guard is 'Leasehold: the highest fencing token seen for each guarded resource.';
