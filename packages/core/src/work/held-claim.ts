import { requireThat } from '../require-option.ts';
import { LeaseholdError } from '../errors.ts';
import type { Duration } from '../duration.ts';
import type { Claim } from './claim.ts';
import { type ResolvedClaimOptions, resolveLease } from './claim-options.ts';
import { type ClaimedRow, lostError } from './claimed-row.ts';
import { type ClaimedRows, leastTimeLeft } from './claimed-rows.ts';
import type { SqlClient } from './client.ts';
import type { BuryOptions, Fate, Outcome, ReleaseOptions, RetryOptions, RowRef, SettleOptions } from './fate.ts';
import { LeaseWatch } from './lease-watch.ts';
import { Renewals } from './renewals.ts';
import type { SetValues } from './set-values.ts';
import { requireOutcomes, resolveSettleOptions, toSettleItem } from './settle-items.ts';
import { Settler } from './settler.ts';
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
  readonly #claim: HeldClaimOptions<Row>;
  readonly #settler: Settler;
  readonly #watch: LeaseWatch<Row>;
  readonly #renewals: Renewals<Row>;

  constructor(claim: HeldClaimOptions<Row>) {
    const { description, token, options } = claim;
    this.#claim = claim;
    this.#settler = new Settler({ description, token, statementTimeoutMs: options.statementTimeoutMs });
    this.#watch = new LeaseWatch(claim.rows, description.table.clock);
    this.#renewals = new Renewals(claim, this.#watch);
    this.id = token;
    this.rows = claim.rows.all.map(({ row }) => row);
    this.buried = claim.buried;
    if (this.rows.length === 0) return;
    this.#watch.watch();
    if (options.autoRenew) this.#renewals.start();
  }

  get signal(): AbortSignal {
    return this.#watch.signal;
  }

  get leaseMs(): number {
    return this.#renewals.leaseMs;
  }

  get timeLeftMs(): number {
    return this.#watch.timeLeftMs;
  }

  signalOf(row: RowRef): AbortSignal {
    return this.#claim.rows.find(row).signal;
  }

  isLeased(row: RowRef): boolean {
    const found = this.#claim.rows.find(row);
    return found.isOpen && !found.endIfLapsed();
  }

  async finalize(row: RowRef, set: SetValues<Row> = {}, options: SettleOptions = {}): Promise<Fate> {
    return this.#settleOne({ row, outcome: 'done', set }, options);
  }

  async retry(row: RowRef, set: SetValues<Row>, options: RetryOptions): Promise<Fate> {
    requireThat(options?.after !== undefined, 'after', undefined, "say when the row is due again, such as { after: '1m' }");
    const { after, ...others } = options;
    return this.#settleOne({ row, outcome: 'retry', after, set }, others);
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
    requireOutcomes(outcomes);
    const { client: given, onLost } = resolveSettleOptions(options);
    const asked = outcomes.map((outcome) => this.#ask(outcome as Outcome));
    requireDistinct(asked);
    const client = given ?? this.#claim.client;
    const isOwn = client === this.#claim.client;
    await this.#settleUntold(asked, client, isOwn);
    for (const { row } of asked) row.untold = null;
    if (this.#claim.rows.open.length === 0) this.#stopTimers();
    if (onLost === 'throw' && asked.some(({ fate }) => fate !== 'done')) throw lostError();
    return asked.map(({ fate }) => fate ?? 'gone');
  }

  /** Each row is noted as soon as its fate is known: a failure in the midst of a long list does not forget what was settled. */
  async #settleUntold(asked: readonly Asked<Row>[], client: SqlClient, isOwn: boolean): Promise<void> {
    const sent = asked.filter(({ fate }) => fate === null);
    for (const { row } of sent) row.isSettling = true;
    const tell = (place: number, fate: Fate): void => {
      const one = sent[place];
      if (one === undefined) return;
      one.fate = fate;
      note(one, fate, isOwn);
    };
    const rows = sent.map(({ row }) => row);
    const retryForMs = isOwn ? leastTimeLeft(rows, this.#claim.description.table.clock) : 0;
    try {
      await this.#settler.settle(
        sent.map(({ item }) => item),
        { client, retryForMs, tell },
      );
    } finally {
      for (const { row } of sent) row.isSettling = false;
    }
  }

  #ask(outcome: Outcome): Asked<Row> {
    const row = this.#claim.rows.find(outcome.row);
    const item = toSettleItem(this.#claim.description.table, outcome, row.ref);
    const isUntold = row.state === 'settled' && row.untold === outcome.outcome;
    if (row.isSettling || (row.state === 'settled' && !isUntold)) throw settledBefore(row);
    return { row, item, fate: isUntold ? 'done' : null };
  }

  async renew(lease?: Duration): Promise<readonly Row[]> {
    return this.#renewals.renew(lease === undefined ? this.#renewals.leaseMs : resolveLease(lease));
  }

  #stopTimers(): void {
    this.#watch.stop();
    this.#renewals.stop();
  }

  close(): void {
    this.#stopTimers();
  }

  /** Rows of which a call is settling something at the moment are left to that. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    const open = this.#claim.rows.open.filter((row) => row.state === 'open' && !row.isSettling);
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

interface Asked<Row extends object> {
  readonly row: ClaimedRow<Row>;
  readonly item: ReturnType<typeof toSettleItem>;
  /** Null as long as it is not known. */
  fate: Fate | null;
}

function note({ row, item }: Asked<object>, fate: Fate, isOwn: boolean): void {
  if (isOwn) {
    if (fate === 'done') row.state = 'settled';
    else row.lose();
    if (fate === 'done') row.untold = item.outcome;
    return;
  }
  // What its own transaction has freed or deleted before is lost for it alone, and not if that is rolled back.
  if (fate === 'lost' && row.state === 'open') row.lose();
  else row.state = 'elsewhere';
}

function settledBefore({ ref }: ClaimedRow<object>): LeaseholdError {
  const message = `row ${ref.join(', ')} was settled by this claim before, or is being settled; settle each row once.`;
  return new LeaseholdError('LEASEHOLD_ALREADY_SETTLED', message);
}

function requireDistinct(asked: readonly Asked<object>[]): void {
  if (new Set(asked.map(({ row }) => row)).size === asked.length) return;
  throw new LeaseholdError('LEASEHOLD_ALREADY_SETTLED', 'a row is twice among what is to be settled; give each row one outcome.');
}
