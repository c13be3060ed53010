import { once } from 'node:events';
import { type PostgresServer, startPostgres } from '@leasehold/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStream } from '../../../test/support/raw.ts';
import { ExampleCopies } from '../../run/test/support/copies.ts';
import { audit } from '../src/show/audit.ts';
import { post } from '../src/show/customers.ts';

const EXAMPLE = { name: 'outbox', args: ['--conditions=@leasehold/source', 'src/server.ts'] };
const PATIENCE_MS = 20_000;

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

test('poison is put away after its last attempt, and delivered once its cause is mended', async () => {
  const copies = await ExampleCopies.on(postgres, EXAMPLE);
  const { origin } = await copies.start('first');
  expect((await post(`${origin}/orders`, { item: 'anvil', quantity: 1 })).status).toBe(201);
  expect((await post(`${origin}/orders`, { item: 'book', quantity: 1 })).status).toBe(201);
  const dead = async (): Promise<unknown[]> => {
    const sql = 'select target_role, attempts, error from outbox where dead_at is not null';
    return (await copies.pool.query(sql)).rows as unknown[];
  };
  const expected = { target_role: 'shipping', attempts: 4, error: expect.stringContaining('nobody knows where "anvil" is kept') };
  await expect.poll(dead, { timeout: PATIENCE_MS }).toEqual([expected]);
  // Nothing else waited for it.
  await expect.poll(() => audit(copies.pool), { timeout: PATIENCE_MS }).toMatchObject({ effects: 5, undelivered: 1 });
  await post(`${origin}/stock/anvil`);
  expect(await (await post(`${origin}/outbox/dead/requeue`)).json()).toEqual({ requeued: 1 });
  await expect
    .poll(() => audit(copies.pool), { timeout: PATIENCE_MS })
    .toMatchObject({ effects: 6, undelivered: 0, notOnce: 0, byNonHolders: 0 });
});

test('the page shows the queue of any process, and does not keep that from ending', async () => {
  const copies = await ExampleCopies.on(postgres, EXAMPLE);
  const first = await copies.start('first');
  expect(await (await fetch(first.origin)).text()).toContain("new EventSource('/events')");
  const stream = await openStream(`${first.origin}/events`);
  await post(`${first.origin}/orders`, { item: 'book', quantity: 1 });
  await expect.poll(stream.text, { timeout: PATIENCE_MS }).toMatch(/"role":"billing","holder":"first-[^}]*"delivered":1/);
  const exited = once(first.process, 'exit');
  first.process.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  await stream.ended;
});

test('what is no order is refused', async () => {
  const copies = await ExampleCopies.on(postgres, EXAMPLE);
  const { origin } = await copies.start('first');
  for (const body of [{}, { item: 'book', quantity: 0 }, { id: 'mine', item: 'book', quantity: 1 }]) {
    expect((await post(`${origin}/orders`, body)).status).toBe(400);
  }
  expect(await audit(copies.pool)).toMatchObject({ orders: 0, effects: 0 });
});
