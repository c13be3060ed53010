import type { Pool } from 'pg';
import { killPoint } from './kill-point.ts';
import { type Order, putEnvelopes } from './outbox.ts';

const INSERT = 'insert into orders (id, item, quantity) values ($1, $2, $3) on conflict do nothing';

/** The order and its envelopes, or none of them. Answers whether it is new. */
export async function placeOrder(pool: Pool, order: Order): Promise<boolean> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rowCount } = await client.query(INSERT, [order.id, order.item, order.quantity]);
    const isNew = rowCount === 1;
    if (isNew) await putEnvelopes(client, order);
    killPoint('order:before-commit');
    await client.query('commit');
    killPoint('order:after-commit');
    return isNew;
  } catch (error) {
    // A connection that is gone has rolled back.
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}
