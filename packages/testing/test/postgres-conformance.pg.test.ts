import { setTimeout as wait } from 'node:timers/promises';
import { postgresStore } from '@leasehold/core/postgres';
import { expect } from 'vitest';
import { test, type TestDatabase } from '../../../test/support/database.ts';
import { test as testWithPgBouncer } from '../../../test/support/pgbouncer-test.ts';
import { type ConformanceCase, type ConformanceHarness, leaseStoreConformance } from '../src/index.ts';

function harnessOn(database: TestDatabase): ConformanceHarness {
  const { connectionString, schema, pool } = database;
  const inTransaction = async <T>(work: (client: { query(sql: string, values?: unknown[]): Promise<unknown> }) => Promise<T>) => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const value = await work(client);
      await client.query('commit');
      return value;
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  };
  return {
    createStore: () => postgresStore({ connectionString, schema }),
    transaction: inTransaction,
    // Rows that age stand for time that passes: no case waits, and none is late on a slow machine.
    shortLeaseMs: 60_000,
    advance: async (ms) => {
      for (const table of ['role_lease', 'instance'])
        await database.query(`update ${schema}.${table} set expires_at = expires_at - $1 * interval '1 millisecond'`, [ms]);
    },
    deleteRow: async (role) => {
      await database.query(`delete from ${schema}.role_lease where role = $1`, [role]);
    },
    changeLease: async (role, leaseMs) => {
      await database.query(`update ${schema}.role_lease set lease_ms = $2 where role = $1`, [role, leaseMs]);
    },
    lockRow: (role, work) =>
      inTransaction(async (client) => {
        await client.query(`select from ${schema}.role_lease where role = $1 for update`, [role]);
        await work();
      }),
  };
}

const casesOn = (database: TestDatabase): readonly ConformanceCase[] => leaseStoreConformance(harnessOn(database));
const unused = {} as TestDatabase;

for (const [index, { name }] of casesOn(unused).entries()) {
  test(`PostgreSQL store: ${name}`, async ({ database }) => {
    const conformanceCase = casesOn(database)[index];
    expect(conformanceCase?.name).toBe(name);
    await conformanceCase?.run();
  });
}

test('PostgreSQL store: the cases about time, in real time', async ({ database }) => {
  const real = { ...harnessOn(database), shortLeaseMs: 1_000, advance: (ms: number) => wait(ms) };
  const aboutTime = leaseStoreConformance(real).filter(({ name }) => /run out|expiry|duration/.test(name));
  expect(aboutTime.length).toBeGreaterThan(5);
  await Promise.all(aboutTime.map(({ run }) => run()));
});

testWithPgBouncer(
  'PostgreSQL store: every case through PgBouncer, one transaction at a time',
  async ({ database, pgbouncer }) => {
    const { connectionString } = pgbouncer;
    const { schema } = database;
    const polling = { ...harnessOn(database), createStore: () => postgresStore({ connectionString, schema }), wakesUp: false };
    for (const { name, run } of leaseStoreConformance(polling)) {
      await run().catch((error: unknown) => expect.fail(`${name}: ${String(error)}`));
    }
  },
);
