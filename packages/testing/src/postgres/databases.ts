import type { Client } from 'pg';

/** Creates a database beside that of `connectionString`, a copy of `template`, and returns its connection string. */
export async function createDatabase(connectionString: string, name: string, template = 'template1'): Promise<string> {
  await withClient(connectionString, async (client) => {
    await client.query(`create database ${client.escapeIdentifier(name)} template ${client.escapeIdentifier(template)}`);
  });
  return withDatabase(connectionString, name);
}

/** Drops a database and ends its sessions; harmless when there is none. */
export async function dropDatabase(connectionString: string, name: string): Promise<void> {
  await withClient(connectionString, async (client) => {
    await client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`);
  });
}

/** The same connection string with another database. */
export function withDatabase(connectionString: string, name: string): string {
  const url = new URL(connectionString);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/** `pg` is an optional peer: only these calls need it. */
async function withClient<T>(connectionString: string, work: (client: Client) => Promise<T>): Promise<T> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
