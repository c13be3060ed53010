import type { Clock } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import { isConnectionBroken } from '../postgres/errors.ts';
import { lend } from '../postgres/lend.ts';
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
  on?(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

interface Pool extends SqlClient {
  connect(callback: (error: Error | undefined, lent: Lent | undefined) => void): void;
}

/** The protocol counts parameters in 16 bits. A driver that lets them overflow breaks its connection. */
const MOST_PARAMETERS = 65_535;

/**
 * Runs a statement, and waits no longer than the limit, in which the wait for a connection of the pool is included. The
 * connection on which it hangs is destroyed: it would never come back, and the pool would run dry.
 *
 * @throws {LeaseholdError} LEASEHOLD_STORE_TIMEOUT when it was given up, and may have taken effect; LEASEHOLD_INVALID_OPTION when
 * it has too many parameters; else what the driver rejects with.
 */
export async function runStatement<T>(client: SqlClient, statement: Statement, limits: StatementLimits): Promise<T[]> {
  const { text, values } = statement;
  if (values.length > MOST_PARAMETERS) throw tooManyParameters(values.length, limits.what);
  const wait = waitUntil(limits.clock.monotonic() + limits.timeoutMs, limits);
  const lent = isPoolOfPg(client) ? await lendInTime(client, wait) : null;
  try {
    const { rows } = await wait((lent ?? client).query(text, values));
    giveBack(lent, false);
    return rows as T[];
  } catch (error) {
    // An error that PostgreSQL itself told leaves the connection as good as before.
    giveBack(lent, isConnectionBroken(error));
    throw error;
  }
}

/** Each statement on it is then a transaction of its own. */
export function isPoolOfPg(client: SqlClient): client is Pool {
  const pool = client as { connect?: unknown; totalCount?: unknown };
  return typeof pool.connect === 'function' && typeof pool.totalCount === 'number';
}

/** A client of `pg` that no pool stands behind: once its connection is broken, it stays so. */
export function isOneConnection(client: SqlClient): boolean {
  return typeof (client as { connect?: unknown }).connect === 'function' && !isPoolOfPg(client);
}

const ignore = (): void => {};

type Wait = <T>(answer: Promise<T>) => Promise<T>;

/** One that is lent after the limit goes back at once. */
async function lendInTime(pool: Pool, wait: Wait): Promise<Lent> {
  const lending = lend<Lent>(pool, ignore);
  try {
    return await wait(lending);
  } catch (error) {
    lending.then((late) => giveBack(late, false), ignore);
    throw error;
  }
}

function giveBack(lent: Lent | null, destroy: boolean): void {
  lent?.off?.('error', ignore);
  lent?.release(destroy);
}

/** Waits for one answer after the other, until the same moment. */
function waitUntil(endMs: number, { clock, timeoutMs, what }: StatementLimits): Wait {
  return async (answer) => {
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    const message = `the database did not answer a ${what} within ${Math.round(timeoutMs)} ms; it was given up and may have taken effect.`;
    const giveUp = (): void => reject(new LeaseholdError('LEASEHOLD_STORE_TIMEOUT', message));
    const timer = clock.setTimer(giveUp, endMs - clock.monotonic());
    try {
      return await Promise.race([answer, givenUp]);
    } finally {
      timer.cancel();
    }
  };
}

function tooManyParameters(count: number, what: string): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_INVALID_OPTION',
    `a ${what} has ${count} parameters, and PostgreSQL takes ${MOST_PARAMETERS}; give a list as one array, such as sql\`id = any (\${ids})\`.`,
  );
}
