import { type Clock, delay } from '../../clock.ts';
import type { Random } from '../../lease/pacing.ts';
import { Waiters } from '../../lease/waiters.ts';
import type { Claim } from '../claim.ts';
import { Lanes } from './lanes.ts';
import { type Unsettled, writeOutcomes, type WriteOptions, type Written } from './write-outcomes.ts';

/** As many statements at once: enough to keep a connection or two busy, too few to take a pool from the application. */
const MOST_STATEMENTS = 4;

export interface SettleDeskOptions<Row extends object> {
  readonly clock: Clock;
  readonly random: Random;
  readonly leaseMs: number;
  readonly onSettled: (claim: Claim<Row>, row: Row, written: Written) => void;
  readonly onRefused: (row: object, error: unknown) => void;
}

/** Where the outcomes of all claims are written, a few statements at a time. */
export class SettleDesk<Row extends object> {
  readonly clock: Clock;
  readonly #options: SettleDeskOptions<Row>;
  readonly #lanes = new Lanes(MOST_STATEMENTS);
  readonly #hurry = new AbortController();
  readonly #idle = new Waiters();
  #unsettled = 0;
  #troubled = 0;

  constructor(options: SettleDeskOptions<Row>) {
    this.clock = options.clock;
    this.#options = options;
  }

  /** Outcomes that are not written yet. */
  get unsettled(): number {
    return this.#unsettled;
  }

  /** Whether a write failed and is being tried again: no time to claim more. */
  get isTroubled(): boolean {
    return this.#troubled > 0;
  }

  expect(count: number): void {
    this.#unsettled += count;
  }

  async write(claim: Claim<Row>, batch: readonly Unsettled<Row>[]): Promise<void> {
    const { clock, random, leaseMs, onRefused, onSettled } = this.#options;
    const options: WriteOptions = {
      clock,
      random,
      leaseMs,
      onRefused,
      hurry: this.#hurry.signal,
      onTrouble: (change) => void (this.#troubled += change),
    };
    const written = await this.#lanes.use(() => writeOutcomes(claim, batch, options));
    this.#unsettled -= batch.length;
    for (const [index, { row, outcome }] of batch.entries()) onSettled(claim, row, written[index] ?? { outcome, fate: null });
    if (this.#unsettled === 0) this.#idle.tell();
  }

  /** True once all is written, false when `timeoutMs` has passed first; what fails from then on is not tried again. */
  async flush(timeoutMs: number): Promise<boolean> {
    if (this.#unsettled === 0) return true;
    const over = new AbortController();
    await Promise.race([this.#idle.wait(over.signal), delay(this.clock, timeoutMs, over.signal)]);
    over.abort();
    if (this.#unsettled > 0) this.#hurry.abort();
    return this.#unsettled === 0;
  }
}
