import type { Clock } from '../../clock.ts';
import type { IdlePace } from './idle-pace.ts';
import { Nap } from './nap.ts';
import type { Outage } from './outage.ts';

/** A pause that is shorter is not worth a statement that asks how long it should be. */
const WORTH_ASKING_MS = 1_000;

export interface PollerOptions {
  readonly clock: Clock;
  readonly idle: IdlePace;
  readonly outage: Outage;
  /** How many rows may be claimed now. */
  readonly room: () => number;
  /** Claims, hands on what it got, and answers how many rows it found: those it buried count. */
  readonly claim: (limit: number) => Promise<number>;
  readonly nextDueMs: () => Promise<number | null>;
}

/**
 * Claims while there is room and something is due; then pauses. There is one for a worker, however many handlers run: what
 * asks the database does not grow with `concurrency`.
 */
export class Poller {
  readonly #options: PollerOptions;
  /** While nothing is due. */
  readonly #pause: Nap;
  /** While nothing may be claimed. */
  readonly #full: Nap;
  #stopped = false;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#pause = new Nap(options.clock);
    this.#full = new Nap(options.clock);
  }

  /** Something will be due then. */
  dueIn(ms: number): void {
    this.#pause.wake(ms);
  }

  /** There may be room again. */
  lookForRoom(): void {
    this.#full.wake();
  }

  stop(): void {
    this.#stopped = true;
    this.#pause.wake();
    this.#full.wake();
  }

  /** Resolves when it was stopped and its last claim has been answered; never rejects. */
  async run(): Promise<void> {
    while (!this.#stopped) {
      const limit = this.#options.room();
      if (limit <= 0) await this.#full.sleep(Number.POSITIVE_INFINITY);
      else await this.#pause.sleep(await this.#claim(limit));
    }
  }

  /** Answers how long to pause. */
  async #claim(limit: number): Promise<number> {
    const { claim, idle, outage } = this.#options;
    try {
      const found = await claim(limit);
      outage.over();
      if (found > 0) idle.reset();
      return found >= limit || this.#stopped ? 0 : await this.#untilDue(idle.next());
    } catch (error) {
      outage.failed(error);
      return outage.pauseMs;
    }
  }

  /** What nobody can tell, a row that is inserted meanwhile, is found at the end of the pause. */
  async #untilDue(pauseMs: number): Promise<number> {
    const { idle, nextDueMs } = this.#options;
    if (pauseMs < WORTH_ASKING_MS) return pauseMs;
    // What keeps it from being told keeps the next claim from being answered, and that says so.
    const dueMs = await nextDueMs().catch(() => null);
    return dueMs === null || dueMs <= 0 ? pauseMs : Math.min(pauseMs, idle.untilDue(dueMs));
  }
}
