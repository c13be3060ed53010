import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { startPostgres } from '@leasehold/testing';
import pg from 'pg';

export interface ShowDatabase {
  readonly connectionString: string;
  /** Version of the server. */
  readonly version: string;
  readonly pool: pg.Pool;
  /** Leaves nothing behind. */
  stop(): Promise<void>;
}

/** A database for this run alone, with the tables of `schema`: on the server of `DATABASE_URL`, or on a throw-away one. */
export async function startDatabase(schema: URL): Promise<ShowDatabase> {
  const { DATABASE_URL } = process.env;
  const place = DATABASE_URL === undefined || DATABASE_URL === '' ? await throwAwayServer() : await databaseOn(DATABASE_URL);
  const pool = new pg.Pool({ connectionString: place.connectionString, max: 2 });
  pool.on('error', () => {});
  const stop = async (): Promise<void> => {
    await pool.end().catch(() => {});
    await place.stop();
  };
  try {
    await pool.query(await readFile(schema, 'utf8'));
    const { rows } = await pool.query<{ version: string }>("select current_setting('server_version') as version");
    const version = rows[0]?.version.split(' ')[0] ?? 'unknown';
    return { connectionString: place.connectionString, version, pool, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Place {
  readonly connectionString: string;
  stop(): Promise<void>;
}

async function throwAwayServer(): Promise<Place> {
  const server = await startPostgres();
  return { connectionString: server.connectionString, stop: () => server.stop() };
}

async function databaseOn(serverUrl: string): Promise<Place> {
  const name = `leasehold_show_${randomBytes(4).toString('hex')}`;
  await run(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { connectionString: url.href, stop: () => run(serverUrl, `drop database if exists ${name} with (force)`) };
}

async function run(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
