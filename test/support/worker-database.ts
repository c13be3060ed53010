import pg from 'pg';
import { withClient } from './with-client.ts';
import { withDatabase } from '../../packages/testing/src/postgres/databases.ts';
import type { ProvidedPostgres } from './postgres-global-setup.ts';

const ALREADY_EXISTS = new Set(['42P04', '23505']);

/** Begins the name of every test's schema. */
export const SCHEMA_PREFIX = 't_';

/** The database of this worker, made by the first test file that asks; returns its connection string. */
export async function workerDatabase(postgres: ProvidedPostgres): Promise<string> {
  const name = `${postgres.databasePrefix}_w${process.env['VITEST_POOL_ID'] ?? '0'}`;
  await withClient(postgres.connectionString, async (client) => {
    const database = client.escapeIdentifier(name);
    await client.query(`create database ${database}`).catch((error: pg.DatabaseError) => {
      if (!ALREADY_EXISTS.has(error.code ?? '')) throw error;
    });
    if (postgres.timeZone !== null) {
      await client.query(`alter database ${database} set timezone to ${client.escapeLiteral(postgres.timeZone)}`);
    }
  });
  return withDatabase(postgres.connectionString, name);
}

/** Cleans a server that stays: drops this run's databases, but for those that keep the schema of a failed test. */
export async function dropTestDatabases(postgres: ProvidedPostgres): Promise<void> {
  for (const name of await testDatabases(postgres)) {
    const kept = await keptSchemas(withDatabase(postgres.connectionString, name));
    if (kept.length > 0) console.log(`Database ${name} is kept with the schemas of failed tests: ${kept.join(', ')}`);
    else await run(postgres.connectionString, `drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
  }
}

async function testDatabases(postgres: ProvidedPostgres): Promise<string[]> {
  const rows = await run(postgres.connectionString, 'select datname as name from pg_database where starts_with(datname, $1)', [
    postgres.databasePrefix,
  ]);
  return rows.map((row) => String(row['name']));
}

async function keptSchemas(connectionString: string): Promise<string[]> {
  const rows = await run(connectionString, 'select nspname as name from pg_namespace where starts_with(nspname, $1)', [
    SCHEMA_PREFIX,
  ]);
  return rows.map((row) => String(row['name']));
}

type Row = Record<string, unknown>;

function run(connectionString: string, sql: string, values: unknown[] = []): Promise<Row[]> {
  return withClient(connectionString, async (client) => (await client.query<Row>(sql, values)).rows);
}
