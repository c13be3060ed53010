import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../packages/testing/src/postgres/start-postgres.ts';
import { dropTestDatabases } from './worker-database.ts';

/** What the workers know of the server; read it with `inject('postgres')`. */
export interface ProvidedPostgres {
  readonly connectionString: string;
  /** Begins the name of every database of this run. */
  readonly databasePrefix: string;
  /** `TimeZone` of these databases, or null for the server's own. */
  readonly timeZone: string | null;
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: ProvidedPostgres;
  }
}

let teardownServer: () => Promise<void> = async () => {};

/** One server for the whole run: that of `DATABASE_URL`, or a throw-away one. */
export async function setup(project: TestProject): Promise<void> {
  const given = process.env['DATABASE_URL'];
  const server = given === undefined || given === '' ? await startPostgres() : undefined;
  const postgres: ProvidedPostgres = {
    connectionString: server?.connectionString ?? given ?? '',
    databasePrefix: `leasehold_test_${randomBytes(3).toString('hex')}`,
    timeZone: process.env['LEASEHOLD_TEST_TIMEZONE'] ?? null,
  };
  project.provide('postgres', postgres);
  teardownServer = () => (server === undefined ? dropTestDatabases(postgres) : server.stop());
}

export function teardown(): Promise<void> {
  return teardownServer();
}
