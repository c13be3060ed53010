import type { ClockTimer } from '../../clock.ts';
import type { Claim } from '../claim.ts';
import type { SettleDesk } from './settle-desk.ts';
import type { Unsettled } from './write-outcomes.ts';

/** A batch is written when it has so many outcomes, or when its first one has waited as long. */
const MOST_ROWS = 500;
const LONGEST_WAIT_MS = 5;

/** A claim of which rows wait, run or are not settled yet. It is closed with the last of them. */
export class LiveClaim<Row extends object> {
  readonly claim: Claim<Row>;
  readonly #desk: SettleDesk<Row>;
  /** Rows whose outcome is not known yet. */
  #working: number;
  #unsettled: Unsettled<Row>[] = [];
  #timer: ClockTimer | null = null;
  #isWriting = false;

  constructor(claim: Claim<Row>, desk: SettleDesk<Row>) {
    this.claim = claim;
    this.#desk = desk;
    this.#working = claim.rows.length;
  }

  settle(outcome: Unsettled<Row>): void {
    this.#working -= 1;
    this.#unsettled.push(outcome);
    this.#desk.expect(1);
    // With the last row nothing is to be waited for.
    if (this.#unsettled.length >= MOST_ROWS || this.#working === 0) this.#write();
    else this.#timer ??= this.#desk.clock.setTimer(() => this.#write(), LONGEST_WAIT_MS);
  }

  /** The row needs nothing more: its handler has settled it, or its lease has to run out. */
  leave(): void {
    this.#working -= 1;
    if (this.#working === 0) this.#write();
  }

  #write(): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#isWriting) return;
    this.#isWriting = true;
    void this.#writeAll();
  }

  /** One statement at a time; what comes in meanwhile is of the next one. */
  async #writeAll(): Promise<void> {
    while (this.#unsettled.length > 0) await this.#desk.write(this.claim, this.#unsettled.splice(0, MOST_ROWS));
    this.#isWriting = false;
    if (this.#working === 0) this.claim.close();
  }
}
