import { setTimeout as sleep } from 'node:timers/promises';
import { isLeaseholdError, type RolePartition, type Term } from '@leasehold/core';
import { withFence } from '@leasehold/core/postgres';
import pg from 'pg';
import { nowUs } from '../../../lab/src/monotonic.ts';
import { type Random, randomBetween, randomInteger } from '../../../lab/src/random.ts';
import type { WriteLine } from '../../../lab/src/worker/log-file.ts';
import { KEYS, type Line } from './config.ts';

const AT_ONCE = 3;
const CONNECT_TIMEOUT_MS = 400;
/** Short enough that a turn which hangs ends before the patience of a stop does. */
const STALL_TIMEOUT_MS = 600;
const LONGEST_TURN_MS = 60;
/** From the end of a term to the turn that is tried all the same. */
const LATEST_MS = 1_000;
/** Of a turn, or of a look at a key that belongs to another instance. */
const PAUSE_MS = [5, 40] as const;

const TURN = 'insert into lab.turn (key, role, fencing_token, holder, late) values ($1, $2, $3, $4, $5)';
const STATE = `
insert into lab.key_state (key, fencing_token, holder, turns) values ($1, $2, $3, 1)
on conflict (key) do update set fencing_token = excluded.fencing_token, holder = excluded.holder, turns = key_state.turns + 1`;

export interface TurnTakerOptions {
  readonly url: string;
  readonly label: string;
  readonly write: WriteLine<Line>;
  readonly random: Random;
}

/** Takes turns of the keys that this instance owns, each in a transaction under the fence of the key's role. */
export class TurnTaker {
  readonly #options: TurnTakerOptions;
  readonly #pool: pg.Pool;
  readonly #terms = new WeakSet<Term>();
  #begun = 0;

  constructor(options: TurnTakerOptions) {
    this.#options = options;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      application_name: options.label,
      max: 2 * AT_ONCE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    // An idle client whose session the server ends reports it here; without a listener that would end the process.
    this.#pool.on('error', () => {});
  }

  /** For as long as the process lives. */
  run(devices: RolePartition): void {
    for (let lane = 0; lane < AT_ONCE; lane += 1) void this.#takeTurns(devices);
  }

  /** What it was told of who owns the key is written down with the time before the look. */
  async #takeTurns(devices: RolePartition): Promise<never> {
    const { random, write, label } = this.#options;
    for (;;) {
      const key = KEYS[randomInteger(random, KEYS.length)] as string;
      const at = nowUs();
      await devices.whileHeld(key, (term) => {
        this.#begun += 1;
        write({ k: 'run', id: `${label}-${this.#begun}`, role: term.role, at, token: Number(term.fencingToken) });
        this.#takeLate(key, term);
        return this.#take(key, term, false);
      });
      await sleep(randomBetween(random, PAUSE_MS));
    }
  }

  /** Tries once more when the term is over: only while the row still names it may the fence let that pass. */
  #takeLate(key: string, term: Term): void {
    if (this.#terms.has(term)) return;
    this.#terms.add(term);
    term.signal.addEventListener('abort', () => {
      setTimeout(() => void this.#take(key, term, true), this.#options.random() * LATEST_MS).unref();
    });
  }

  async #take(key: string, term: Term, late: boolean): Promise<void> {
    const { write } = this.#options;
    try {
      await withFence(this.#pool, term, (client) => this.#turn(client, { key, term, late }), { stallTimeout: STALL_TIMEOUT_MS });
    } catch (error) {
      if (!isLeaseholdError(error, 'LEASEHOLD_FENCED')) return;
      write({ k: 'refused', at: nowUs(), role: term.role, token: Number(term.fencingToken), late });
    }
  }

  /** The turn begins with the first row and is over with the commit; the pause gives others the time to get in between. */
  async #turn(client: pg.PoolClient, { key, term, late }: { key: string; term: Term; late: boolean }): Promise<void> {
    const token = String(term.fencingToken);
    await client.query(TURN, [key, term.role, token, term.holder, late]);
    await sleep(this.#options.random() * LONGEST_TURN_MS);
    await client.query(STATE, [key, token, term.holder]);
  }
}
