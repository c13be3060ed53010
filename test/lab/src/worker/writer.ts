import { setTimeout as sleep } from 'node:timers/promises';
import { isLeaseholdError, type Term } from '@leasehold/core';
import { withFence } from '@leasehold/core/postgres';
import pg from 'pg';
import { nowUs } from '../monotonic.ts';
import { type Random, randomBetween } from '../random.ts';
import type { WriteLine } from './log-file.ts';

const POOL_SIZE = 10;
/** Short enough that work which waits for a starved pool or a locked row still drains when the worker stops. */
const CONNECT_TIMEOUT_MS = 400;
const STALL_TIMEOUT_MS = 600;
const LONGEST_PAUSE_MS = 100;

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

  /** Writes under the fence of `term`, now and then in a transaction that stays open for a while. */
  async write(term: Term): Promise<void> {
    await this.#attempt(term, { late: false, holdMs: this.#pause() });
  }

  /** Tries to write for a term that is over here: only while the row still names it may the fence let that pass. */
  async writeLate(term: Term, holdMs: number): Promise<void> {
    await this.#attempt(term, { late: true, holdMs });
  }

  /** Takes every client of the pool for `ms`. */
  async exhaust(ms: number): Promise<void> {
    await Promise.allSettled(Array.from({ length: POOL_SIZE }, () => this.#occupy(ms)));
  }

  async #occupy(ms: number): Promise<void> {
    const client = await this.#pool.connect();
    let broken = false;
    // A client that is checked out reports its own death here; without a listener that would end the process.
    const onError = (): void => void (broken = true);
    client.on('error', onError);
    await sleep(ms);
    client.off('error', onError);
    client.release(broken);
  }

  async #attempt(term: Term, options: Attempt): Promise<void> {
    try {
      await withFence(this.#pool, term, (client) => this.#insert(client, term, options), { stallTimeout: STALL_TIMEOUT_MS });
    } catch (error) {
      if (!isLeaseholdError(error, 'LEASEHOLD_FENCED')) return;
      this.#write({ k: 'refused', at: nowUs(), role: term.role, token: Number(term.fencingToken), late: options.late });
    }
  }

  /** The pauses give faults a fenced transaction to strike, before the write and after it. */
  async #insert(client: pg.PoolClient, term: Term, { late, holdMs }: Attempt): Promise<void> {
    await sleep(this.#pause());
    await client.query(INSERT, [term.role, String(term.fencingToken), term.holder, late]);
    await sleep(holdMs);
  }

  #pause(): number {
    return this.#random() < 0.5 ? 0 : randomBetween(this.#random, [0, LONGEST_PAUSE_MS]);
  }
}

interface Attempt {
  /** The instance knows that its term is over. */
  readonly late: boolean;
  /** How long the transaction stays open after the write. */
  readonly holdMs: number;
}
