import { sql, type WorkTable, workTable } from '@leasehold/core/work';
import type { ClientBase } from 'pg';

export interface Order {
  /** The client chooses it: whoever got no answer may send the order again. */
  readonly id: string;
  readonly item: string;
  readonly quantity: number;
}

export interface Envelope {
  readonly id: string;
  readonly target_role: string | null;
  readonly topic: string;
  readonly payload: Order;
  readonly attempts: number;
  readonly dead_at: Date | null;
  readonly error: string | null;
}

export const outbox: WorkTable<Envelope> = workTable<Envelope>({
  table: 'outbox',
  orderBy: 'created_at',
  live: sql`delivered_at is null and dead_at is null`,
  attempts: { column: 'attempts', max: 4 },
  done: { delivered_at: sql`clock_timestamp()` },
  dead: { set: { dead_at: sql`clock_timestamp()` }, reason: 'error' },
});

/** Null is for whoever comes first. */
const TARGETS = ['billing', 'shipping', null];

const PUT = "insert into outbox (target_role, topic, payload) select target, 'order.placed', $1 from unnest($2::text[]) target";

/** One envelope for each target. It takes the client of the transaction that has the reason for them. */
export async function putEnvelopes(client: ClientBase, order: Order): Promise<void> {
  await client.query(PUT, [order, TARGETS]);
}
