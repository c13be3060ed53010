import pg from 'pg';
import { expect } from 'vitest';
import { test } from '../../../test/support/pgbouncer-test.ts';

test('two clients share one server connection, transaction by transaction', async ({ pgbouncer, database, onTestFinished }) => {
  const clients = [0, 1].map(() => new pg.Client({ connectionString: pgbouncer.connectionString }));
  onTestFinished(async () => void (await Promise.all(clients.map((client) => client.end()))));
  const backends: unknown[] = [];
  for (const client of clients) {
    await client.connect();
    const { rows } = await client.query('select pg_backend_pid() as pid, current_database() as name');
    backends.push(rows[0]);
  }
  const name = new URL(database.connectionString).pathname.slice(1);
  expect(backends[0]).toEqual({ pid: expect.any(Number), name });
  expect(backends[1]).toEqual(backends[0]);
});

test('refuses the startup parameters that a default PgBouncer refuses', async ({ pgbouncer, onTestFinished }) => {
  const client = new pg.Client({ connectionString: pgbouncer.connectionString, statement_timeout: 1_000 });
  onTestFinished(() => client.end());
  await expect(client.connect()).rejects.toThrow('unsupported startup parameter');
});
