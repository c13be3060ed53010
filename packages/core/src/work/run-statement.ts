import type { Clock } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import type { SqlClient } from './client.ts';

export interface StatementLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** For the message: what the statement was for. */
  readonly what: string;
}

/** SQL with numbered parameters. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** A connection that a pool lends. */
interface Lent extends SqlClient {
  release(destroy?: boolean): void;
  on?(event: 'error', listener: () => void): unknown;
  off?(event: 'error', listener: () => void): unknown;
}

interface Pool extends SqlClient {
  connect(): Promise<Lent>;
}

/**
 * Runs a statement, and waits no longer than the limit. The connection of a pool on which it hangs is destroyed: it would
 * never come back, and the pool would run dry.
 *
 * @throws {LeaseholdError} LEASEHOLD_STORE_TIMEOUT when it was given up, and may have taken effect; else what the driver rejects with.
 */
export async function runStatement<T>(client: SqlClient, statement: Statement, limits: StatementLimits): Promise<T[]> {
  const { text, values } = statement;
  const isPool = isPoolOfPg(client);
  const lent = isPool ? await lend(client, limits) : null;
  try {
    const { rows } = await withinLimit((lent ?? client).query(text, values), limits);
    giveBack(lent, false);
    return rows as T[];
  } catch (error) {
    // An error that PostgreSQL itself told leaves the connection as good as before.
    giveBack(lent, !isToldByServer(error));
    throw error;
  }
}

function isPoolOfPg(client: SqlClient): client is Pool {
  const pool = client as { connect?: unknown; totalCount?: unknown };
  return typeof pool.connect === 'function' && typeof pool.totalCount === 'number';
}

const ignore = (): void => {};

/** One that is lent after the limit goes back at once. */
async function lend(pool: Pool, limits: StatementLimits): Promise<Lent> {
  const lending = pool.connect();
  try {
    const lent = await withinLimit(lending, limits);
    // A connection that breaks tells the statement, and then its listeners; without one, the process ends.
    lent.on?.('error', ignore);
    return lent;
  } catch (error) {
    lending.then((late) => late.release(), ignore);
    throw error;
  }
}

function giveBack(lent: Lent | null, destroy: boolean): void {
  lent?.off?.('error', ignore);
  lent?.release(destroy);
}

function isToldByServer(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'severity' in error && error.severity === 'ERROR';
}

async function withinLimit<T>(answer: Promise<T>, { clock, timeoutMs, what }: StatementLimits): Promise<T> {
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const message = `the database did not answer a ${what} within ${Math.round(timeoutMs)} ms; it was given up and may have taken effect.`;
  const timer = clock.setTimer(() => reject(new LeaseholdError('LEASEHOLD_STORE_TIMEOUT', message)), timeoutMs);
  try {
    return await Promise.race([answer, givenUp]);
  } finally {
    timer.cancel();
  }
}
