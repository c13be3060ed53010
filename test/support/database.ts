import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type RunnerTestCase, type TestAPI, test as base, inject } from 'vitest';
import { withClient } from './with-client.ts';
import { SCHEMA_PREFIX, workerDatabase } from './worker-database.ts';

/** A place of its own for one test. */
export interface TestDatabase {
  /** Of this worker's database, which other tests share, one after the other; as superuser where the server is ours. */
  readonly connectionString: string;
  /** Name of a schema that nobody else uses. Not created yet; needs no quotes. */
  readonly schema: string;
  /** Ten connections at most; closed after the test. */
  readonly pool: pg.Pool;
  /** `pool.query`, for its rows. */
  query<Row extends pg.QueryResultRow = Record<string, unknown>>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * `test` of vitest with a `database`. The schema is dropped after a test that passed. That of a test that failed is
 * kept, and its error says where.
 *
 * Cleaning up is the last thing of all: what the test itself closes in `onTestFinished` still has its database.
 */
export const test: TestAPI<{ database: TestDatabase }> = base.extend<{ database: TestDatabase }>({
  database: async ({ task, onTestFinished }, use) => {
    const database = await testDatabase(task.name);
    onTestFinished(() => closeDatabase(database, task));
    await use(database);
  },
});

async function testDatabase(name: string): Promise<TestDatabase> {
  const connectionString = await workerDatabase(inject('postgres'));
  const pool = new pg.Pool({ connectionString, max: 10 });
  // An idle connection that a test cuts would otherwise end the worker.
  pool.on('error', () => {});
  return {
    connectionString,
    schema: schemaName(name),
    pool,
    query: async (sql, values = []) => (await pool.query(sql, [...values])).rows,
  };
}

const LONGEST_SLUG = 48;

/** Names are cut at 63 bytes by PostgreSQL, and indices and sequences named after them need some room. */
function schemaName(testName: string): string {
  const slug = testName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  return `${SCHEMA_PREFIX}${slug.slice(0, LONGEST_SLUG)}_${randomBytes(3).toString('hex')}`;
}

async function closeDatabase(database: TestDatabase, task: Readonly<RunnerTestCase>): Promise<void> {
  await endPool(database.pool);
  if (task.result?.state === 'fail') nameSchema(database, task);
  else await dropSchema(database);
}

const END_DEADLINE_MS = 5_000;

/** `pool.end()` waits for ever for a client that was never given back. */
async function endPool(pool: pg.Pool): Promise<void> {
  let deadline: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    deadline = setTimeout(() => {
      reject(new Error(`The test did not release ${pool.totalCount - pool.idleCount} client(s) of database.pool.`));
    }, END_DEADLINE_MS);
  });
  await Promise.race([pool.end(), late]).finally(() => clearTimeout(deadline));
}

function nameSchema({ connectionString, schema }: TestDatabase, task: Readonly<RunnerTestCase>): void {
  const where = `Schema ${schema} of database ${new URL(connectionString).pathname.slice(1)} is kept`;
  const howLong = process.env['DATABASE_URL'] ? '' : ' until the run ends (set DATABASE_URL to look at it afterwards)';
  const error = task.result?.errors?.[0];
  if (error !== undefined) error.message += `\n\n${where}${howLong}.`;
}

/** A transaction that the test left open would block the drop for ever. */
async function dropSchema({ connectionString, schema }: TestDatabase): Promise<void> {
  await withClient(connectionString, async (client) => {
    await client.query(`set lock_timeout = '5s'; drop schema if exists ${schema} cascade`);
  });
}
