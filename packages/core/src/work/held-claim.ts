import type { Clock, ClockTimer } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import { createTermSignal } from '../lease/term-signal.ts';
import type { Claim } from './claim.ts';
import { type ResolvedClaimOptions, resolveLease } from './claim-options.ts';
import { type ClaimedRow, lapsedError, lostError } from './claimed-row.ts';
import type { ClaimedRows } from './claimed-rows.ts';
import type { SqlClient } from './client.ts';
import { after, type Deadline, moment } from './deadline.ts';
import type { BuryOptions, Fate, Outcome, ReleaseOptions, RetryOptions, RowRef, SettleOptions } from './fate.ts';
import type { Duration } from '../duration.ts';
import { runStatement } from './run-statement.ts';
import type { SetValues } from './set-values.ts';
import { toSettleItem } from './settle-items.ts';
import { Settler } from './settler.ts';
import { renewSql, type RenewState } from './statements/renew.ts';
import type { TableDescription } from './table-description.ts';

export interface HeldClaimOptions<Row extends object> {
  readonly description: TableDescription;
  readonly client: SqlClient;
  readonly token: string;
  readonly rows: ClaimedRows<Row>;
  readonly buried: number;
  readonly options: ResolvedClaimOptions;
}

export class HeldClaim<Row extends object> implements Claim<Row> {
  readonly id: string;
  readonly rows: readonly Row[];
  readonly buried: number;
  readonly signal: AbortSignal;
  readonly #claim: HeldClaimOptions<Row>;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #settler: Settler;
  #leaseMs: number;
  #lapseTimer: ClockTimer | null = null;
  #renewTimer: ClockTimer | null = null;
  #closed = false;

  constructor(claim: HeldClaimOptions<Row>) {
    const { description, token, options } = claim;
    this.#claim = claim;
    this.#clock = description.table.clock;
    this.#settler = new Settler({ description, token, statementTimeoutMs: options.statementTimeoutMs });
    this.id = token;
    this.rows = claim.rows.all.map(({ row }) => row);
    this.buried = claim.buried;
    this.#leaseMs = options.leaseMs;
    this.signal = createTermSignal(this.#controller, () => this.#endIfLapsed());
    if (this.rows.length === 0) return;
    this.#watchLapse();
    if (options.autoRenew) this.#scheduleRenewal();
  }

  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** Of the open row whose lease ends first. */
  get timeLeftMs(): number {
    const left = this.#claim.rows.open.map((row) => row.timeLeftMs);
    return left.length === 0 ? 0 : Math.min(...left);
  }

  signalOf(row: RowRef): AbortSignal {
    return this.#claim.rows.find(row).signal;
  }

  async finalize(row: RowRef, set: SetValues<Row> = {}, options: SettleOptions = {}): Promise<Fate> {
    return this.#settleOne({ row, outcome: 'done', set }, options);
  }

  async retry(row: RowRef, set: SetValues<Row>, { after: due, ...options }: RetryOptions): Promise<Fate> {
    return this.#settleOne({ row, outcome: 'retry', after: due, set }, options);
  }

  async release(row: RowRef, { refund = true, ...options }: ReleaseOptions = {}): Promise<Fate> {
    return this.#settleOne({ row, outcome: 'release', refund }, options);
  }

  async bury(row: RowRef, set: SetValues<Row> = {}, { reason = 'buried', ...options }: BuryOptions = {}): Promise<Fate> {
    return this.#settleOne({ row, outcome: 'bury', set, reason }, options);
  }

  async #settleOne(outcome: Outcome<Row>, options: SettleOptions): Promise<Fate> {
    const [fate] = await this.settle([outcome], options);
    return fate ?? 'gone';
  }

  async settle(outcomes: readonly Outcome<Row>[], options: SettleOptions = {}): Promise<Fate[]> {
    if (outcomes.length === 0) return [];
    const { description, client } = this.#claim;
    const rows = outcomes.map((outcome) => this.#requireOpen(outcome.row));
    const items = outcomes.map((outcome, index) => toSettleItem(description.table, outcome as Outcome, rows[index]?.ref ?? []));
    requireDistinct(rows);
    const isOwn = options.client === undefined || options.client === client;
    const run = { client: options.client ?? client, retryForMs: isOwn ? this.timeLeftMs : 0 };
    const fates = await this.#settler.settle(items, run);
    for (const [index, row] of rows.entries()) note(row, fates[index] ?? 'gone', isOwn);
    if (this.#claim.rows.open.length === 0) this.#stopTimers();
    if (options.onLost === 'throw' && fates.some((fate) => fate !== 'done')) throw lostError();
    return fates;
  }

  #requireOpen(ref: RowRef): ClaimedRow<Row> {
    const row = this.#claim.rows.find(ref);
    if (row.state !== 'settled') return row;
    throw new LeaseholdError(
      'LEASEHOLD_ALREADY_SETTLED',
      `row ${row.ref.join(', ')} was settled by this claim before; settle each row once.`,
    );
  }

  async renew(lease?: Duration): Promise<readonly Row[]> {
    const leaseMs = lease === undefined ? this.#leaseMs : resolveLease(lease);
    const { description, client, token, rows, options } = this.#claim;
    const open = rows.open;
    if (open.length === 0) return [];
    const until = after(moment(this.#clock), leaseMs - options.safetyMarginMs);
    const statement = renewSql(description, { token, leaseMs, refs: open.map((row) => row.ref) });
    const limits = { clock: this.#clock, timeoutMs: options.statementTimeoutMs, what: 'renewal of rows' };
    const states = await runStatement<{ state: RenewState }>(client, statement, limits);
    this.#leaseMs = leaseMs;
    const lost = open.filter((row, index) => this.#renewed(row, states[index]?.state ?? 'lost', until));
    if (rows.open.length === 0) this.#end(lostError());
    this.#watchLapse();
    return lost.map(({ row }) => row);
  }

  /** Answers whether the row was found lost. What was settled meanwhile, or within a transaction elsewhere, is not. */
  #renewed(row: ClaimedRow<Row>, state: RenewState, until: Deadline): boolean {
    if (state === 'renewed') row.prolong(until);
    if (state !== 'lost' || !row.isOpen) return false;
    if (row.state === 'open') {
      row.lose();
      return true;
    }
    row.state = 'settled';
    return false;
  }

  /** One renewal that fails is tried again soon: the lease has two thirds left. */
  #scheduleRenewal(delayMs: number = this.#leaseMs / 3): void {
    if (this.#closed) return;
    this.#renewTimer = this.#clock.setTimer(() => {
      void this.renew().then(
        () => this.#claim.rows.open.length > 0 && this.#scheduleRenewal(),
        (error: unknown) => this.#renewalFailed(error),
      );
    }, delayMs);
  }

  #renewalFailed(error: unknown): void {
    const { table } = this.#claim.description;
    table.logger.warn(
      { table: table.table.name, claim: this.id, err: error },
      'a lease of rows could not be renewed; it is tried again',
    );
    if (this.timeLeftMs > 0) this.#scheduleRenewal(Math.min(this.#leaseMs / 20, 1_000));
  }

  #watchLapse(): void {
    this.#lapseTimer?.cancel();
    if (this.#closed || this.#controller.signal.aborted || this.#claim.rows.open.length === 0) return;
    // Rounded up: a timer that fires a fraction early would find nothing to end.
    this.#lapseTimer = this.#clock.setTimer(() => {
      this.#endIfLapsed();
      this.#watchLapse();
    }, Math.ceil(this.timeLeftMs));
  }

  #endIfLapsed(): void {
    const { open } = this.#claim.rows;
    for (const row of open) row.endIfLapsed();
    if (open.some((row) => row.timeLeftMs === 0)) this.#end(lapsedError());
  }

  #end(reason: LeaseholdError): void {
    this.#controller.abort(reason);
  }

  #stopTimers(): void {
    this.#lapseTimer?.cancel();
    this.#renewTimer?.cancel();
  }

  close(): void {
    this.#closed = true;
    this.#stopTimers();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    const open = this.#claim.rows.open.filter((row) => row.state === 'open');
    try {
      await this.settle(open.map(({ row }) => ({ row, outcome: 'release' })));
    } catch (error) {
      const { table } = this.#claim.description;
      table.logger.warn(
        { table: table.table.name, claim: this.id, err: error },
        'rows could not be released; their lease runs out',
      );
    }
  }
}

function note(row: ClaimedRow<object>, fate: Fate, isOwn: boolean): void {
  if (fate !== 'done') row.lose();
  else row.state = isOwn ? 'settled' : 'elsewhere';
}

function requireDistinct(rows: readonly ClaimedRow<object>[]): void {
  if (new Set(rows).size === rows.length) return;
  throw new LeaseholdError('LEASEHOLD_ALREADY_SETTLED', 'a row is twice among what is to be settled; give each row one outcome.');
}
