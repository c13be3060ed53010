import { expect } from 'vitest';
import { test } from '../../../../test/support/database.ts';
import { callWithin, instance, openStore } from '../support/postgres-lease.ts';

test('a term that its own instance takes anew is recorded as ended before the new one begins', async ({ database }) => {
  const store = await openStore(database, 'a');
  const acquire = ['r', 's', 't'].map((role) => ({ role, leaseMs: 60_000, tokenFloor: 0n }));
  const request = { instance: instance('a'), instanceTtlMs: 60_000, renew: [], acquire, observe: [] };
  await store.heartbeat(request, callWithin(5_000));
  await store.heartbeat(request, callWithin(5_000));
  const rows = await database.query(
    `select ended_by, ended_at between old.acquired_at and new.acquired_at as in_order
     from ${database.schema}.role_term old join ${database.schema}.role_lease new using (role)`,
  );
  expect(rows).toEqual(acquire.map(() => ({ ended_by: 'superseded', in_order: true })));
});
