import { type Clock, delay } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import { isTransient } from '../postgres/errors.ts';
import type { SqlClient } from './client.ts';
import type { Fate } from './fate.ts';
import { runStatement } from './run-statement.ts';
import { type SettleItem } from './statements/settle-shape.ts';
import { settleSql } from './statements/settle.ts';
import type { TableDescription } from './table-description.ts';

/** As many rows as one statement settles: a parameter is an array, whose text should not grow without bound. */
const MOST_ROWS = 1_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

export interface SettlerOptions {
  readonly description: TableDescription;
  readonly token: string;
  readonly statementTimeoutMs: number;
}

export interface SettleRun {
  readonly client: SqlClient;
  /** How long a failure that passes is tried again, in milliseconds: never within a transaction of the caller's, which it has ended. */
  readonly retryForMs: number;
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
  async settle(items: readonly SettleItem[], run: SettleRun): Promise<Fate[]> {
    const fates: Fate[] = [];
    for (let start = 0; start < items.length; start += MOST_ROWS) {
      fates.push(...(await this.#settlePart(items.slice(start, start + MOST_ROWS), run)));
    }
    return fates;
  }

  async #settlePart(items: readonly SettleItem[], { client, retryForMs }: SettleRun): Promise<Fate[]> {
    const { description, token, statementTimeoutMs } = this.#options;
    const statement = settleSql(description, token, items);
    const limits = { clock: this.#clock, timeoutMs: statementTimeoutMs, what: 'settlement of rows' };
    const giveUpAt = this.#clock.monotonic() + retryForMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        const rows = await runStatement<{ fate: Fate; still_live: boolean }>(client, statement, limits);
        if (rows.some((row) => row.still_live)) throw stillLive(description);
        return rows.map((row) => row.fate);
      } catch (error) {
        if (!isTransient(error) || this.#clock.monotonic() + pauseMs >= giveUpAt) throw error;
      }
      await delay(this.#clock, pauseMs);
    }
  }
}

function stillLive({ table }: TableDescription): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_ROW_STILL_LIVE',
    `a row of ${table.table.quoted} was finished or buried, and "${table.live}" is still true for it: it will be claimed again. ` +
      'Have `done`, `dead` or the call itself write what makes it false.',
  );
}
