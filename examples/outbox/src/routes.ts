import { randomUUID } from 'node:crypto';
import { sql } from '@leasehold/core/work';
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { type Order, outbox } from './outbox.ts';
import { placeOrder } from './place-order.ts';

const ORDER = {
  type: 'object',
  required: ['item', 'quantity'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    item: { type: 'string', minLength: 1, maxLength: 100 },
    quantity: { type: 'integer', minimum: 1, maximum: 1_000 },
  },
} as const;

/** Any process takes these requests. */
export function addRoutes(app: FastifyInstance, pool: Pool): void {
  app.post<{ Body: Omit<Order, 'id'> & Partial<Order> }>('/orders', { schema: { body: ORDER } }, async (request, reply) => {
    const { id = randomUUID(), item, quantity } = request.body;
    const isNew = await placeOrder(pool, { id, item, quantity });
    return reply.code(isNew ? 201 : 200).send({ id });
  });

  // What made the dead ones fail may be mended by now; they get all their attempts again.
  app.post('/outbox/dead/requeue', async () => {
    const where = sql`dead_at is not null`;
    return { requeued: await outbox.requeue(pool, { where, set: { dead_at: null, error: null } }) };
  });

  app.post<{ Params: { item: string } }>('/stock/:item', async (request, reply) => {
    await pool.query('insert into stock (item) values ($1) on conflict do nothing', [request.params.item]);
    return reply.code(204).send();
  });

  // The role goes to the other process, if there is one; a second is enough for that.
  app.post<{ Params: { role: string } }>('/roles/:role/step-down', async (request, reply) => {
    const { role } = request.params;
    if (!app.roleLeases.has(role)) return reply.code(404).send({ role });
    return { outcome: await app.leasehold.get(role).stepDown({ standAside: '1s' }) };
  });
}
