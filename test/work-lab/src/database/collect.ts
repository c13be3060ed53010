import type { Client } from 'pg';
import type { Booking, Version } from '../checker/history.ts';

/** So many rows' versions are in memory at a time. */
const PAGE = 5_000;

function us(column: string): string {
  return `(extract(epoch from ${column}) * 1000000)::float8 as "${column}"`;
}

const VERSIONS = `
select op, row_id::text as row, xid::text, by, ${['at', 'began', 'created', 'until', 'finished', 'buried'].map(us).join(', ')},
       token, attempts, amount, written_by as "writtenBy", via, asked_ms as "askedMs", error
from lab.version where row_id >= $1 and row_id < $2 order by row_id, id`;

/** Reads all versions of each row, row by row, and hands them on. */
export async function eachRow(client: Client, visit: (versions: readonly Version[]) => void): Promise<void> {
  await client.query('create index if not exists version_of_row on lab.version (row_id, id)');
  const [{ last } = { last: '0' }] = (
    await client.query<{ last: string }>('select coalesce(max(row_id), 0) as last from lab.version')
  ).rows;
  for (let from = 0; from <= Number(last); from += PAGE) {
    const { rows } = await client.query<Version>(VERSIONS, [from, from + PAGE]);
    for (const versions of Map.groupBy(rows, ({ row }) => row).values()) visit(versions);
  }
}

export interface Leftovers {
  /** Ids of the rows that are in the table. */
  readonly present: ReadonlySet<string>;
  /** Ids of the rows that the lab has deleted. */
  readonly removed: ReadonlySet<string>;
  readonly bookings: readonly Booking[];
}

export async function leftovers(client: Client): Promise<Leftovers> {
  const present = await client.query<{ id: string }>('select id::text from public.delivery');
  const removed = await client.query<{ id: string }>('select row_id::text as id from lab.removed');
  const bookings = await client.query<Booking>('select row_id::text as row, claim, xid::text from lab.booking');
  return {
    present: new Set(present.rows.map(({ id }) => id)),
    removed: new Set(removed.rows.map(({ id }) => id)),
    bookings: bookings.rows,
  };
}
