import type { TestAPI } from 'vitest';
import { type TestDatabase, test as databaseTest } from './database.ts';
import { PGBOUNCER_MISSING, type PgBouncer, pgbouncerAvailable, startPgBouncer } from './pgbouncer.ts';

/**
 * `test` with a `database` and a `pgbouncer` in transaction mode before it. Where PgBouncer is not installed, the test is
 * skipped and says so; under `CI=true` it fails.
 */
export const test: TestAPI<{ database: TestDatabase; pgbouncer: PgBouncer }> = databaseTest.extend<{ pgbouncer: PgBouncer }>({
  pgbouncer: async ({ database, onTestFinished, skip }, use) => {
    if (!pgbouncerAvailable()) reportMissing(skip);
    const bouncer = await startPgBouncer({ target: database.connectionString, poolMode: 'transaction' });
    onTestFinished(() => bouncer.stop());
    await use(bouncer);
  },
});

function reportMissing(skip: (note: string) => never): never {
  if (process.env['CI'] === 'true') throw new Error(`${PGBOUNCER_MISSING}, and CI must not skip this test.`);
  console.log(`Skipped: ${PGBOUNCER_MISSING}.`);
  return skip(PGBOUNCER_MISSING);
}
