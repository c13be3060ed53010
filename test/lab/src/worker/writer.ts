import { setTimeout as sleep } from 'node:timers/promises';
import { isLeaseholdError, type Term } from '@leasehold/core';
import { withFence } from '@leasehold/core/postgres';
import pg from 'pg';
import { nowUs } from '../monotonic.ts';
import { type Random, randomBetween } from '../random.ts';
import type { WriteLine } from './log-file.ts';

const POOL_SIZE = 4;
/** Short enough that work which waits for a starved pool or a locked row still drains when the worker stops. */
const CONNECT_TIMEOUT_MS = 400;
const STALL_TIMEOUT_MS = 600;
/** The longest pause within a transaction, of which there are two: of one that the worker has to wait for when it stops, and of one that it has not. */
const LONGEST_PAUSE_MS = { inTime: 100, late: 400 } as const;

const INSERT = 'insert into lab.fenced_write (role, fencing_token, holder, late) values ($1, $2, $3, $4)';

/** Fenced writes through the application's own pool. */
export class Writer {
  readonly #pool: pg.Pool;
  readonly #write: WriteLine;
  readonly #random: Random;

  constructor(options: { readonly url: string; readonly label: string; readonly write: WriteLine; readonly random: Random }) {
    this.#pool = new pg.Pool({
      connectionString: options.url,
      application_name: options.label,
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    // An idle client whose server goes away reports it here; without a listener that would end the process.
    this.#pool.on('error', () => {});
    this.#write = options.write;
    this.#random = options.random;
  }

  /** Writes under the fence of `term`, and keeps the transaction open for a while. */
  async fencedWrite(term: Term): Promise<void> {
    await this.#attempt(term, false);
  }

  /** Tries to write for a term that is over here: only a fence that is still right may let it pass. */
  async lateWrite(term: Term): Promise<void> {
    await this.#attempt(term, true);
  }

  /** Takes every client of the pool for `ms`. */
  async exhaust(ms: number): Promise<void> {
    const taken = await Promise.allSettled(Array.from({ length: POOL_SIZE }, () => this.#pool.connect()));
    await sleep(ms);
    for (const result of taken) if (result.status === 'fulfilled') result.value.release();
  }

  async #attempt(term: Term, late: boolean): Promise<void> {
    try {
      await withFence(this.#pool, term, (client) => this.#insert(client, term, late), { stallTimeout: STALL_TIMEOUT_MS });
    } catch (error) {
      if (!isLeaseholdError(error, 'LEASEHOLD_FENCED')) return;
      this.#write({ k: 'refused', at: nowUs(), role: term.role, token: Number(term.fencingToken), late });
    }
  }

  /** The pauses give faults a fenced transaction to strike, before the write and after it. */
  async #insert(client: pg.PoolClient, term: Term, late: boolean): Promise<void> {
    const longestMs = late ? LONGEST_PAUSE_MS.late : LONGEST_PAUSE_MS.inTime;
    await sleep(this.#pause(longestMs));
    await client.query(INSERT, [term.role, String(term.fencingToken), term.holder, late]);
    await sleep(this.#pause(longestMs));
  }

  #pause(longestMs: number): number {
    return this.#random() < 0.5 ? 0 : randomBetween(this.#random, [0, longestMs]);
  }
}
