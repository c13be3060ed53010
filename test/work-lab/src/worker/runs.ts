import type { Job } from '@leasehold/core/work';
import { nowUs } from '../../../lab/src/monotonic.ts';
import type { WriteLine } from '../../../lab/src/worker/log-file.ts';
import type { Delivery } from '../table.ts';
import type { Line } from './config.ts';

/** One handler at work, and when it was last allowed to believe that its row is leased. */
export class Run {
  readonly row: Delivery;
  readonly job: Job<Delivery>;
  #lookedAt: number;

  constructor(row: Delivery, job: Job<Delivery>) {
    this.row = row;
    this.job = job;
    this.#lookedAt = 0;
  }

  get lookedAt(): number {
    return this.#lookedAt;
  }

  /** False once the signal has aborted. The time is from before the look, so that it is never too late. */
  look(): boolean {
    const at = nowUs();
    const { aborted } = this.job.signal;
    if (!aborted) this.#lookedAt = at;
    return !aborted;
  }
}

/** All handlers that are at work in this process. */
export class Runs {
  readonly #runs = new Set<Run>();
  readonly #seen = new Set<string>();
  readonly #write: WriteLine<Line>;

  constructor(write: WriteLine<Line>) {
    this.#write = write;
  }

  /** Runs a handler, and writes down its beginning and its last look. */
  async watch<T>(row: Delivery, job: Job<Delivery>, work: (run: Run) => Promise<T>): Promise<T> {
    const run = new Run(row, job);
    const { claimId: claim, attempt } = job;
    this.#write({ k: 'begin', at: nowUs(), row: row.id, claim, attempt });
    this.#noteBegin(`${row.id} ${claim}`);
    this.#runs.add(run);
    run.look();
    try {
      return await work(run);
    } finally {
      this.#runs.delete(run);
      run.look();
      this.#write({ k: 'look', row: row.id, claim, at: run.lookedAt });
    }
  }

  /** Looks at every signal, as code that is at work in all handlers would. */
  look(): void {
    for (const run of this.#runs) run.look();
  }

  #noteBegin(key: string): void {
    if (this.#seen.has(key)) this.#write({ k: 'wrong', what: `a handler was run twice for one claim of a row: ${key}` });
    this.#seen.add(key);
  }
}
