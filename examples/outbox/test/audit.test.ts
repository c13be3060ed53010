import { type PostgresServer, startPostgres } from '@leasehold/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ExampleCopies } from '../../run/test/support/copies.ts';
import { type Audit, audit } from '../src/show/audit.ts';
import { post } from '../src/show/customers.ts';

const EXAMPLE = { name: 'outbox', args: ['--conditions=@leasehold/source', 'src/server.ts'] };

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

/** What would be wrong, and by which number the audit tells. */
const WRONG: readonly (readonly [what: string, sql: string, found: Partial<Audit>])[] = [
  ['an envelope that was never written', "delete from outbox where target_role = 'billing'", { notOnce: 1 }],
  ['an effect that is missing', "delete from effects where role = 'billing'", { notOnce: 1 }],
  ['an envelope that is not delivered', 'update outbox set delivered_at = null where target_role is null', { undelivered: 1 }],
  [
    'a second envelope',
    'insert into outbox (target_role, topic, payload) select target_role, topic, payload from outbox limit 1',
    { notOnce: 1 },
  ],
  ['an order that was rolled back', 'delete from orders', { orders: 0, withoutOrder: 6 }],
  ['another process', "update effects set instance = 'another' where role = 'shipping'", { byNonHolders: 1 }],
  ['another token', "update effects set fencing_token = fencing_token + 1 where role = 'shipping'", { byNonHolders: 1 }],
  ['another time', "update effects set written_at = written_at - interval '1h' where role is not null", { byNonHolders: 2 }],
  [
    'a term that overlaps the next one',
    "insert into leasehold.role_term (role, fencing_token, holder, acquired_at, ended_at, ended_by) select role, 0, 'another', acquired_at - interval '1h', acquired_at + interval '1ms', 'expired' from leasehold.role_lease where role = 'billing'",
    { wrongTerms: 1 },
  ],
];

test('the audit finds what would be wrong', async () => {
  const copies = await ExampleCopies.on(postgres, EXAMPLE);
  const { origin } = await copies.start('first');
  await post(`${origin}/orders`, { item: 'book', quantity: 1 });
  const right = { orders: 1, effects: 3, notOnce: 0, undelivered: 0, withoutOrder: 0, byNonHolders: 0, wrongTerms: 0 };
  await expect.poll(() => audit(copies.pool), { timeout: 20_000 }).toMatchObject(right);
  for (const [what, sql, found] of WRONG) {
    const client = await copies.pool.connect();
    await client.query('begin');
    await client.query(sql);
    expect(await audit(client), what).toMatchObject(found);
    await client.query('rollback');
    client.release();
  }
});
