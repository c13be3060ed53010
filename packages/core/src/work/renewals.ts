import type { Clock, ClockTimer } from '../clock.ts';
import type { ClaimedRow } from './claimed-row.ts';
import { after, type Deadline, moment } from './deadline.ts';
import type { HeldClaimOptions } from './held-claim.ts';
import type { LeaseWatch } from './lease-watch.ts';
import { runStatement } from './run-statement.ts';
import { renewSql, type RenewState } from './statements/renew.ts';

const SOON_MS = 1_000;

interface Renewed<Row extends object> {
  readonly lost: readonly Row[];
  /** Somebody had some of them locked. */
  readonly isPartial: boolean;
}

/** Prolongs the leases of a claim's open rows, by hand and by a timer. */
export class Renewals<Row extends object> {
  readonly #claim: HeldClaimOptions<Row>;
  readonly #watch: LeaseWatch<Row>;
  readonly #clock: Clock;
  #leaseMs: number;
  #timer: ClockTimer | null = null;
  #stopped = false;

  constructor(claim: HeldClaimOptions<Row>, watch: LeaseWatch<Row>) {
    this.#claim = claim;
    this.#watch = watch;
    this.#clock = claim.description.table.clock;
    this.#leaseMs = claim.options.leaseMs;
  }

  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** Of all open rows, also those whose lease has run out: where nobody has claimed them since, they are leased again. */
  async renew(leaseMs: number): Promise<readonly Row[]> {
    return (await this.#renew(this.#claim.rows.open, leaseMs)).lost;
  }

  /** At a third of the lease; one that fails or finds rows locked is repeated soon, as the lease has two thirds left. */
  start(delayMs: number = this.#leaseMs / 3): void {
    if (this.#stopped) return;
    this.#timer = this.#clock.setTimer(() => void this.#renewWhatIsHeld(), delayMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /**
   * Without the rows that were given up: their work has been told to stop, and a lease that is prolonged for ever would keep
   * every other worker from them.
   */
  async #renewWhatIsHeld(): Promise<void> {
    const held = this.#claim.rows.open.filter((row) => row.timeLeftMs > 0);
    if (held.length === 0) return;
    const soonMs = Math.min(this.#leaseMs / 20, SOON_MS);
    try {
      const { isPartial } = await this.#renew(held, this.#leaseMs);
      this.start(isPartial ? soonMs : undefined);
    } catch (error) {
      this.#warn(error);
      this.start(soonMs);
    }
  }

  async #renew(rows: readonly ClaimedRow<Row>[], leaseMs: number): Promise<Renewed<Row>> {
    if (rows.length === 0) return { lost: [], isPartial: false };
    const { description, client, token, options } = this.#claim;
    // A lease that is shorter than that of the claim has no room for its margin.
    const until = after(moment(this.#clock), leaseMs - Math.min(options.safetyMarginMs, leaseMs / 2));
    const statement = renewSql(description, { token, leaseMs, refs: rows.map((row) => row.ref) });
    const timeoutMs = Math.min(options.statementTimeoutMs, leaseMs / 2);
    const limits = { clock: this.#clock, timeoutMs, what: 'renewal of rows' };
    const states = await runStatement<{ state: RenewState }>(client, statement, limits);
    this.#leaseMs = leaseMs;
    const lost = rows.filter((row, index) => noteRenewal(row, states[index]?.state ?? 'lost', until));
    if (lost.length > 0 && this.#claim.rows.open.length === 0) this.#watch.lose();
    if (!this.#stopped) this.#watch.watch();
    return { lost: lost.map(({ row }) => row), isPartial: states.some(({ state }) => state === 'busy') };
  }

  #warn(error: unknown): void {
    const { description, token } = this.#claim;
    const fields = { table: description.table.table.name, claim: token, err: error };
    description.table.logger.warn(fields, 'a lease of rows could not be renewed; it is tried again');
  }
}

/** Answers whether the row was found lost. What is settled meanwhile, or within a transaction elsewhere, is not. */
function noteRenewal(row: ClaimedRow<object>, state: RenewState, until: Deadline): boolean {
  if (state === 'renewed') row.prolong(until);
  if (state !== 'lost' || !row.isOpen || row.isSettling) return false;
  if (row.state === 'open') {
    row.lose();
    return true;
  }
  row.state = 'settled';
  return false;
}
