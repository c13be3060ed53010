import { expect } from 'vitest';
import { test } from '../../../../test/support/database.ts';
import { callWithin, instance, openStore } from '../support/postgres-lease.ts';

test('many calls at once make one connection anew, and each gets its own answer', async ({ database }) => {
  const connectionString = `${database.connectionString}?application_name=${database.schema}`;
  const store = await openStore({ ...database, connectionString }, 'a');
  const request = { instance: instance('a'), instanceTtlMs: 60_000, renew: [], observe: [] };
  const backends = async (): Promise<number[]> =>
    (
      await database.query<{ pid: number }>('select pid from pg_stat_activity where application_name = $1', [database.schema])
    ).map(({ pid }) => pid);
  const [before] = await backends();
  await database.query('select pg_terminate_backend($1)', [before]);
  await expect.poll(() => store.listens).toBe(false);
  const roles = Array.from({ length: 8 }, (_, n) => `role-${n}`);
  const replies = await Promise.all(
    roles.map((role) => store.heartbeat({ ...request, acquire: [{ role, leaseMs: 60_000, tokenFloor: 0n }] }, callWithin(5_000))),
  );
  expect(replies.map((reply) => reply.roles.map(({ role, outcome }) => [role, outcome]))).toEqual(
    roles.map((role) => [[role, 'acquired']]),
  );
  expect(await backends()).toHaveLength(1);
});
