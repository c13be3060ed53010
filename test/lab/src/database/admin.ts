import pg from 'pg';

const PATIENCE_MS = 1_000;

/** The lab's own way to the database, past all proxies. A database that does not answer is nothing unusual here. */
export class Admin {
  readonly #pool: pg.Pool;
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
    this.#pool = new pg.Pool({
      connectionString: url,
      application_name: 'lab-admin',
      max: 3,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
    });
    this.#pool.on('error', () => {});
  }

  /** The rows, or undefined when the database did not answer. */
  async ask<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[] | undefined> {
    try {
      return (await this.#pool.query<Row>(sql, [...values])).rows;
    } catch {
      return undefined;
    }
  }

  /** Ids of the instances that hold, by role. */
  async holders(): Promise<Map<string, string>> {
    const rows = await this.ask<{ role: string; holder: string }>(
      'select role, holder from leasehold.role_lease where holder is not null and expires_at > clock_timestamp()',
    );
    return new Map(rows?.map(({ role, holder }) => [role, holder]));
  }

  /** Runs `work` in a transaction of a session of its own, and rolls it back; nothing happens when the database is gone. */
  async transaction(work: (client: pg.Client) => Promise<void>): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'lab-admin',
      connectionTimeoutMillis: PATIENCE_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('begin');
      await work(client);
    } catch {
      // A fault of the database has ended the session, and with it the transaction.
    } finally {
      client.connection.stream.destroy();
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
