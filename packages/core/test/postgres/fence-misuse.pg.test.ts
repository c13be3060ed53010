import { withFence } from '@leasehold/core/postgres';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/database.ts';
import { instanceOn } from '../support/postgres-lease.ts';

describe('work of withFence that ends its transaction itself', () => {
  test.for(['commit', 'rollback'])('%s: is told, since what follows is not fenced', async (end, { database }) => {
    const leasehold = instanceOn(database);
    const lease = leasehold.role('r');
    await leasehold.start();
    const work = lease.whileHeld((term) => withFence(database.pool, term, (client) => client.query(end)));
    await expect(work).rejects.toMatchObject({ code: 'LEASEHOLD_FENCE_NEEDS_TRANSACTION', role: 'r' });
    const fenced = await lease.whileHeld((term) => withFence(database.pool, term, async () => 'next'));
    expect(fenced).toEqual({ ran: true, value: 'next' });
  });
});
