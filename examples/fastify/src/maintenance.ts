import { EventEmitter } from 'node:events';
import type { Term } from '@leasehold/core';
import { withFence } from '@leasehold/core/postgres';
import type pg from 'pg';

export interface Run {
  readonly by: string;
  readonly token: string;
  readonly note: string;
}

const INSERT = 'insert into maintenance_run (instance, fencing_token, note) values ($1, $2, $3)';

/** The job: writes down that it ran, and tells whoever listens. */
export class Maintenance extends EventEmitter<{ run: [Run] }> {
  readonly #pool: pg.Pool;
  readonly #label: string;
  #last: Run | null = null;

  constructor(pool: pg.Pool, label: string) {
    super();
    // One listener for each open event stream.
    this.setMaxListeners(0);
    this.#pool = pool;
    this.#label = label;
  }

  get last(): Run | null {
    return this.#last;
  }

  /** The fence keeps a holder that was frozen meanwhile from writing. */
  async run(term: Term, note: string): Promise<Run> {
    const values = [this.#label, term.fencingToken, note];
    await withFence(this.#pool, term, (client) => client.query(INSERT, values), { stallTimeout: '1s' });
    const run: Run = { by: this.#label, token: String(term.fencingToken), note };
    this.#last = run;
    this.emit('run', run);
    return run;
  }
}
