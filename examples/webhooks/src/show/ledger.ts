import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { deliveries } from '../deliveries.ts';

export interface Tally {
  /** A worker may claim them now. */
  readonly due: number;
  readonly leased: number;
  /** They failed, and are due later. */
  readonly waiting: number;
  readonly done: number;
  readonly dead: number;
}

/** What became of the rows in the end. */
export interface Result {
  readonly rows: number;
  readonly done: number;
  readonly dead: number;
  /** Buried ones for the receiver that refuses all. */
  readonly deadAsMeant: number;
  readonly mostAttempts: number;
}

const POLL_MS = 200;

const SETTLED = `
  select (count(*) filter (where completed_at is not null))::int as done, (count(*) filter (where failed_at is not null))::int as dead
  from deliveries`;

const HELD = `
  select id from deliveries
  where worker = $1 and completed_at is null and failed_at is null and lock_id is not null and locked_until > clock_timestamp()`;

const OPEN = 'select count(*)::int as open from deliveries where id = any ($1) and completed_at is null and failed_at is null';

const RESULT = `
  select count(*)::int as rows,
    (count(*) filter (where completed_at is not null))::int as done,
    (count(*) filter (where failed_at is not null))::int as dead,
    (count(*) filter (where failed_at is not null and error = 'HTTP 400' and url like '%/refuses'))::int as "deadAsMeant",
    max(attempts)::int as "mostAttempts"
  from deliveries`;

/** Looks into the table, as a dashboard does: the workers are not asked. */
export class Ledger {
  tally: Tally = { due: 0, leased: 0, waiting: 0, done: 0, dead: 0 };
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.tally = await this.#look().catch(() => this.tally);
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #look(): Promise<Tally> {
    const { due, leased, waiting } = await deliveries.counts(this.#pool);
    const { rows } = await this.#pool.query<{ done: number; dead: number }>(SETTLED);
    return { due, leased, waiting, ...(rows[0] ?? { done: 0, dead: 0 }) };
  }

  /** The deliveries that the worker has at this moment. */
  async heldBy(label: string): Promise<string[]> {
    const { rows } = await this.#pool.query<{ id: string }>(HELD, [label]);
    return rows.map(({ id }) => id);
  }

  /** How many of these are neither done nor dead. */
  async openOf(ids: readonly string[]): Promise<number> {
    const { rows } = await this.#pool.query<{ open: number }>(OPEN, [ids]);
    return rows[0]?.open ?? ids.length;
  }

  async result(): Promise<Result> {
    return (await this.#pool.query<Result>(RESULT)).rows[0] as Result;
  }
}
