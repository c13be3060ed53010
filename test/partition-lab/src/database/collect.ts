import type { Client } from 'pg';
import type { LeaseChange } from '../../../lab/src/checker/history.ts';
import { collect } from '../../../lab/src/database/collect.ts';
import type { MemberChange, Turn } from '../checker/history.ts';

export interface PartitionEvidence {
  readonly changes: readonly LeaseChange[];
  readonly members: readonly MemberChange[];
  readonly turns: readonly Turn[];
}

const MEMBERS = `
select instance, (extract(epoch from at) * 1000000)::bigint as at, (extract(epoch from until) * 1000000)::bigint as until, roles, draining
from lab.member_change order by id`;

const TURNS = `
select key, role, fencing_token as token, holder, late, (extract(epoch from at) * 1000000)::bigint as "writtenAt",
       (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000000)::bigint as "committedAt"
from lab.turn order by id`;

interface MemberRow {
  readonly instance: string;
  readonly at: string;
  readonly until: string;
  readonly roles: number | null;
  readonly draining: boolean;
}

interface TurnRow {
  readonly key: string;
  readonly role: string;
  readonly token: string;
  readonly holder: string;
  readonly late: boolean;
  readonly writtenAt: string;
  readonly committedAt: string;
}

/** Reads what the database knows of a scenario, all of it at one moment. A bigint arrives as text. */
export async function collectPartition(client: Client): Promise<PartitionEvidence> {
  await client.query('begin isolation level repeatable read, read only');
  const { changes } = await collect(client);
  const members = await client.query<MemberRow>(MEMBERS);
  const turns = await client.query<TurnRow>(TURNS);
  await client.query('commit');
  return {
    changes,
    members: members.rows.map((row) => ({ ...row, at: Number(row.at), until: Number(row.until) })),
    turns: turns.rows.map((row) => ({
      ...row,
      token: Number(row.token),
      writtenAt: Number(row.writtenAt),
      committedAt: Number(row.committedAt),
    })),
  };
}
