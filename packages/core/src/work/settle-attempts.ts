import { type Clock, delay } from '../clock.ts';
import { isConnectionBroken, isTransient } from '../postgres/errors.ts';
import type { SqlClient } from './client.ts';
import { isOneConnection, isPoolOfPg, runStatement } from './run-statement.ts';
import type { Sql } from './sql.ts';
import type { SettleRequest } from './statements/settle-request.ts';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;
/** Of a lease of many hours, a failure that does not pass would be heard of at its end. */
const LONGEST_RETRIES_MS = 60_000;
/** How much of the time for a statement the server may wait for a lock, so that it ends before it is given up here. */
const WAIT_SHARE = 0.8;

export interface AttemptsOptions {
  readonly token: string;
  readonly client: SqlClient;
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
  /** How long a failure that passes is tried again, in milliseconds: never within a transaction of the caller's, which it has ended. */
  readonly retryForMs: number;
}

/** Runs the statements that settle some rows, and runs them again after a failure that passes, until the time for that is over. */
export class SettleAttempts {
  readonly #options: AttemptsOptions;
  readonly #giveUpAt: number;
  readonly #failures: unknown[] = [];

  constructor(options: AttemptsOptions) {
    this.#options = options;
    this.#giveUpAt = options.clock.monotonic() + Math.min(options.retryForMs, LONGEST_RETRIES_MS);
  }

  /** The statement hears whether it, or one before it, may have been run without an answer. */
  async run<T>(statementOf: (request: SettleRequest) => Sql): Promise<T[]> {
    const { client, clock, statementTimeoutMs } = this.#options;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const statement = statementOf(this.#request());
      try {
        return await runStatement<T>(client, statement, { clock, timeoutMs: statementTimeoutMs, what: 'settlement of rows' });
      } catch (error) {
        // The claim's own client stands in a transaction: the first error has ended it, and is what went wrong.
        if (isTransactionAborted(error)) throw this.#failures[0] ?? error;
        this.#failures.push(error);
        const isWorthIt = isTransient(error) && !(isConnectionBroken(error) && isOneConnection(client));
        if (!isWorthIt || clock.monotonic() + pauseMs >= this.#giveUpAt) throw error;
      }
      await delay(clock, pauseMs);
    }
  }

  #request(): SettleRequest {
    const { token, client, statementTimeoutMs } = this.#options;
    return {
      token,
      isRepeated: this.#failures.some(isConnectionBroken),
      lockTimeoutMs: isPoolOfPg(client) ? Math.ceil(statementTimeoutMs * WAIT_SHARE) : null,
    };
  }
}

function isTransactionAborted(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '25P02';
}
