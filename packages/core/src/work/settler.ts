import { type Clock, delay } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import { isConnectionBroken, isTransient } from '../postgres/errors.ts';
import type { SqlClient } from './client.ts';
import type { Fate } from './fate.ts';
import { isOneConnection, isPoolOfPg, runStatement } from './run-statement.ts';
import type { Sql } from './sql.ts';
import type { SettleItem } from './statements/settle-item.ts';
import { type SettlePart, splitByShape } from './statements/settle-parts.ts';
import { settleSql } from './statements/settle.ts';
import type { TableDescription } from './table-description.ts';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;
/** Of a lease of many hours, a failure that does not pass would be heard of at its end. */
const LONGEST_RETRIES_MS = 60_000;
/** How much of the time for a statement the server may wait for a lock, so that it ends before it is given up here. */
const WAIT_SHARE = 0.8;

export interface SettlerOptions {
  readonly description: TableDescription;
  readonly token: string;
  readonly statementTimeoutMs: number;
}

export interface SettleRun {
  readonly client: SqlClient;
  /** How long a failure that passes is tried again, in milliseconds: never within a transaction of the caller's, which it has ended. */
  readonly retryForMs: number;
  /** Hears the fate of each item, by its place in the list, as soon as it is known. */
  readonly tell: (place: number, fate: Fate) => void;
}

interface Answer {
  readonly fate: Fate;
  readonly still_live: boolean;
}

/** Runs the statements that settle the rows of one claim. */
export class Settler {
  readonly #options: SettlerOptions;
  readonly #clock: Clock;

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.#clock = options.description.table.clock;
  }

  /**
   * @throws {LeaseholdError} LEASEHOLD_STORE_TIMEOUT; LEASEHOLD_ROW_STILL_LIVE when a row was finished that its filter does not
   * take for finished; else what the driver rejects with, when it lasts.
   */
  async settle(items: readonly SettleItem[], run: SettleRun): Promise<void> {
    let stillLive = false;
    for (const part of splitByShape(items)) {
      const rows = await this.#settlePart(part, run);
      for (const [index, { fate, still_live: isLive }] of rows.entries()) {
        run.tell(part.places[index] ?? -1, fate);
        stillLive ||= isLive;
      }
    }
    if (stillLive) throw stillLiveError(this.#options.description);
  }

  async #settlePart(part: SettlePart, { client, retryForMs }: SettleRun): Promise<Answer[]> {
    const { statementTimeoutMs } = this.#options;
    const limits = { clock: this.#clock, timeoutMs: statementTimeoutMs, what: 'settlement of rows' };
    const giveUpAt = this.#clock.monotonic() + Math.min(retryForMs, LONGEST_RETRIES_MS);
    const failures: unknown[] = [];
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await runStatement<Answer>(client, this.#statement(part, client, failures.some(isConnectionBroken)), limits);
      } catch (error) {
        // The claim's own client stands in a transaction: the first error has ended it, and is what went wrong.
        if (isTransactionAborted(error)) throw failures[0] ?? error;
        failures.push(error);
        const isWorthIt = isTransient(error) && !(isConnectionBroken(error) && isOneConnection(client));
        if (!isWorthIt || this.#clock.monotonic() + pauseMs >= giveUpAt) throw error;
      }
      await delay(this.#clock, pauseMs);
    }
  }

  #statement(part: SettlePart, client: SqlClient, isRepeated: boolean): Sql {
    const { description, token, statementTimeoutMs } = this.#options;
    const lockTimeoutMs = isPoolOfPg(client) ? Math.ceil(statementTimeoutMs * WAIT_SHARE) : null;
    return settleSql(description, part, { token, isRepeated, lockTimeoutMs });
  }
}

function isTransactionAborted(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '25P02';
}

function stillLiveError({ table }: TableDescription): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_ROW_STILL_LIVE',
    `a row of ${table.table.quoted} was finished or buried, and "${table.live}" is still true for it: it will be claimed again. ` +
      'Have `done`, `dead` or the call itself write what makes it false.',
  );
}
