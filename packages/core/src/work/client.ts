import { requireThat } from '../require-option.ts';

/**
 * Whatever can run a statement with numbered parameters: a `Pool` or a client of `pg`, PGlite, or a few lines around
 * another driver. Within a transaction of the caller's, the connection that it runs on.
 */
export interface SqlClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function requireClient(option: string, client: unknown): void {
  const isClient = typeof client === 'object' && client !== null && 'query' in client && typeof client.query === 'function';
  requireThat(isClient, option, client, 'give what has query(text, values), such as a Pool of pg');
}
