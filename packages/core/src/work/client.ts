/**
 * Whatever can run a statement with numbered parameters: a `Pool` or a client of `pg`, PGlite, or a few lines around
 * another driver. Within a transaction of the caller's, the connection that it runs on.
 */
export interface SqlClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}
