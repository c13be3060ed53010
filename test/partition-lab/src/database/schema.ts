import type { Client } from 'pg';
import { createLabSchema } from '../../../lab/src/database/lab-schema.ts';

/** Beside the witness of the lab for lease rows, one for members, and what instances write under the fence of a key's role. */
const PARTITION_WITNESS = `
create table lab.member_change (
  id        bigint      generated always as identity primary key,
  at        timestamptz not null default clock_timestamp(),
  instance  text        not null,
  until     timestamptz not null,
  roles     integer,
  draining  boolean     not null
);

create function lab.witness_member() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into lab.member_change (instance, until, roles, draining) values (old.id, clock_timestamp(), null, true);
  else
    insert into lab.member_change (instance, until, roles, draining)
    values (
      new.id,
      new.expires_at,
      (new.membership -> 'partitions' ->> 'devices')::integer,
      coalesce((new.membership ->> 'draining')::boolean, false)
    );
  end if;
  return null;
end $$;

create trigger lab_witness_member after insert or update or delete on leasehold.instance
for each row execute function lab.witness_member();

create table lab.key_state (
  key           text   primary key,
  fencing_token bigint not null,
  holder        text   not null,
  turns         bigint not null
);

create table lab.turn (
  id            bigint      generated always as identity primary key,
  at            timestamptz not null default clock_timestamp(),
  key           text        not null,
  role          text        not null,
  fencing_token bigint      not null,
  holder        text        not null,
  late          boolean     not null
);
`;

export async function createPartitionLabSchema(client: Client): Promise<void> {
  await createLabSchema(client);
  await client.query(PARTITION_WITNESS);
}
