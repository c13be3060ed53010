import type { Client } from 'pg';
import type { FencedWrite, LeaseChange, RecordedTerm } from '../checker/history.ts';

export interface DatabaseEvidence {
  readonly changes: readonly LeaseChange[];
  readonly recorded: readonly RecordedTerm[];
  readonly writes: readonly FencedWrite[];
}

/** Microseconds since the epoch as text: a bigint arrives as text anyway. `-infinity` becomes 0. */
function us(column: string): string {
  return `(case when isfinite(${column}) then extract(epoch from ${column}) * 1000000 else 0 end)::bigint`;
}

const CHANGES = `
select role, holder, fencing_token as token, ${us('at')} as "at", ${us('acquired_at')} as "acquiredAt", ${us('expires_at')} as "expiresAt"
from lab.lease_change order by id`;

const RECORDED = `
select role, fencing_token as token, holder, ${us('acquired_at')} as "acquiredAt", ${us('ended_at')} as "endedAt"
from leasehold.role_term`;

const WRITES = `
select role, fencing_token as token, holder, ${us('at')} as "writtenAt", ${us('pg_xact_commit_timestamp(xmin)')} as "committedAt", late
from lab.fenced_write order by id`;

/** Reads what the database knows of the run. */
export async function collect(client: Client): Promise<DatabaseEvidence> {
  return {
    changes: await read<LeaseChange>(client, CHANGES),
    recorded: await read<RecordedTerm>(client, RECORDED),
    writes: await read<FencedWrite>(client, WRITES),
  };
}

const AS_THEY_ARE: ReadonlySet<string> = new Set(['role', 'holder', 'late']);

async function read<Row>(client: Client, sql: string): Promise<Row[]> {
  const { rows } = await client.query<Record<string, string | boolean | null>>(sql);
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toValue(name, value)])) as Row);
}

function toValue(name: string, value: string | boolean | null): string | boolean | number | null {
  return AS_THEY_ARE.has(name) ? value : Number(value);
}
