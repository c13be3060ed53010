import { LeaseholdError, resolveDuration } from '@leasehold/core';
import type { Claim, ClaimOptions, Fate, Outcome } from '@leasehold/core/work';
import { type ManualClock, manualClock } from '../../../../testing/src/manual-clock.ts';
import type { WorkSource } from '../../../src/work/worker/work-source.ts';
import { type SpyLogger, spyLogger } from '../../support/spy-logger.ts';

export interface TestRow {
  readonly id: number;
  readonly attempts: number;
  readonly role?: string | null;
}

interface Stored {
  id: number;
  attempts: number;
  role: string | null;
  /** By the monotonic clock. */
  due: number;
  token: string | null;
  state: 'live' | 'done' | 'dead';
  set: Record<string, unknown>;
}

type Faults = { [Step in 'claim' | 'settle' | 'nextDue']: (call: Call) => void | Promise<unknown> };

export interface Call {
  readonly outcomes?: readonly Outcome<TestRow>[];
  readonly limit?: number;
  /** Which call of this step it is, from 1. */
  readonly nth: number;
}

/** A work table in memory, on time that a test moves; every call of it can be made to fail, or to hang. */
export class ScriptedSource implements WorkSource<TestRow> {
  readonly name = 'deliveries';
  readonly attempts: { readonly column: string; readonly max: number } | null = { column: 'attempts', max: 3 };
  readonly clock: ManualClock = manualClock();
  readonly logger: SpyLogger = spyLogger();
  readonly client = { query: () => Promise.reject(new Error('a scripted table has no SQL')) };
  readonly rows = new Map<number, Stored>();
  readonly calls: Record<'claim' | 'settle' | 'nextDue' | 'renew', Call[]> = { claim: [], settle: [], nextDue: [], renew: [] };
  readonly options: ClaimOptions[] = [];
  readonly open = new Set<ScriptedClaim>();
  faults: Partial<Faults> = {};
  #tokens = 0;

  insert(count: number, more: Partial<Stored> = {}): void {
    for (let n = 0; n < count; n += 1) {
      const id = this.rows.size + 1;
      this.rows.set(id, {
        id,
        attempts: 0,
        role: null,
        due: this.clock.monotonic(),
        token: null,
        state: 'live',
        set: {},
        ...more,
      });
    }
  }

  row(id: number): Stored {
    const row = this.rows.get(id);
    if (row === undefined) throw new Error(`there is no row ${id}`);
    return row;
  }

  /** As another worker does, whose claim came after this one's lease. */
  steal(id: number): void {
    Object.assign(this.row(id), { token: 'another', due: this.clock.monotonic() + 60_000 });
  }

  check(options: ClaimOptions): void {
    if (options.group !== undefined) throw new LeaseholdError('LEASEHOLD_INVALID_OPTION', 'group is none of this table');
  }

  async claim(_client: unknown, options: ClaimOptions): Promise<Claim<TestRow>> {
    this.options.push(options);
    const { limit = 10, lease = 60_000 } = options;
    await this.call('claim', { limit });
    const now = this.clock.monotonic();
    const due = [...this.rows.values()].filter((row) => row.state === 'live' && row.due <= now).toSorted((a, b) => a.due - b.due);
    const token = `claim-${(this.#tokens += 1)}`;
    const { column: _, max } = this.attempts ?? { column: '', max: Number.POSITIVE_INFINITY };
    const taken = due.filter((row) => row.attempts < max).slice(0, limit);
    const spent = due.filter((row) => row.attempts >= max);
    for (const row of spent) row.state = 'dead';
    for (const row of taken) Object.assign(row, { token, due: now + Number(lease), attempts: row.attempts + 1 });
    const claim = new ScriptedClaim(this, token, { rows: taken, leaseMs: Number(lease), buried: spent.length });
    if (taken.length > 0) this.open.add(claim);
    return claim as unknown as Claim<TestRow>;
  }

  async nextDueMs(): Promise<number | null> {
    await this.call('nextDue', {});
    const now = this.clock.monotonic();
    const due = [...this.rows.values()].filter((row) => row.state === 'live' && row.due > now).map((row) => row.due);
    return due.length === 0 ? null : Math.min(...due) - now;
  }

  async call(step: keyof Faults, details: Omit<Call, 'nth'>): Promise<void> {
    const call = { ...details, nth: this.calls[step].length + 1 };
    this.calls[step].push(call);
    await this.faults[step]?.(call);
  }
}

class ScriptedClaim {
  readonly rows: readonly TestRow[];
  readonly buried: number;
  readonly leaseMs: number;
  readonly id: string;
  readonly #source: ScriptedSource;
  readonly #controllers: Map<number, AbortController>;
  readonly #openIds: Set<number>;
  #closed = false;

  constructor(
    source: ScriptedSource,
    id: string,
    { rows, leaseMs, buried }: { rows: Stored[]; leaseMs: number; buried: number },
  ) {
    this.#source = source;
    this.id = id;
    this.leaseMs = leaseMs;
    this.buried = buried;
    this.rows = rows.map((row) => ({ id: row.id, attempts: row.attempts, role: row.role }));
    this.#controllers = new Map(rows.map((row) => [row.id, new AbortController()]));
    this.#openIds = new Set(rows.map((row) => row.id));
    this.#renewLater();
  }

  signalOf(row: TestRow): AbortSignal {
    return (this.#controllers.get(row.id) as AbortController).signal;
  }

  isLeased(row: TestRow): boolean {
    return !this.signalOf(row).aborted;
  }

  async settle(outcomes: readonly Outcome<TestRow>[]): Promise<Fate[]> {
    await this.#source.call('settle', { outcomes });
    return outcomes.map((outcome) => this.#settleOne(outcome));
  }

  async finalize(row: TestRow, set: object, { onLost }: { onLost: 'tell' | 'throw' }): Promise<Fate> {
    const fate = this.#settleOne({ row, outcome: 'done', set: set as Record<string, never> });
    if (fate !== 'done' && onLost === 'throw') throw new LeaseholdError('LEASEHOLD_ROW_LOST', 'lost');
    return fate;
  }

  close(): void {
    this.#closed = true;
    this.#source.open.delete(this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    for (const id of this.#openIds) this.#settleOne({ row: { id }, outcome: 'release' });
  }

  #settleOne(outcome: Outcome<TestRow>): Fate {
    const row = this.#source.rows.get((outcome.row as TestRow).id);
    if (row === undefined) return 'gone';
    this.#openIds.delete(row.id);
    if (row.token !== this.id) return 'lost';
    row.token = null;
    if ('set' in outcome) Object.assign(row.set, outcome.set);
    if (outcome.outcome === 'done') row.state = 'done';
    if (outcome.outcome === 'bury') Object.assign(row, { state: 'dead', set: { ...row.set, reason: outcome.reason } });
    if (outcome.outcome === 'retry')
      row.due = this.#source.clock.monotonic() + resolveDuration('after', outcome.after, { min: 0 });
    if (outcome.outcome === 'release') {
      row.due = this.#source.clock.monotonic();
      if (outcome.refund !== false) row.attempts -= 1;
    }
    return 'done';
  }

  #renewLater(): void {
    this.#source.clock.setTimer(() => {
      if (this.#closed) return;
      this.#source.calls.renew.push({ nth: this.#source.calls.renew.length + 1 });
      for (const id of this.#openIds) this.#renew(id);
      this.#renewLater();
    }, this.leaseMs / 3);
  }

  #renew(id: number): void {
    const row = this.#source.rows.get(id);
    if (row?.token === this.id) row.due = this.#source.clock.monotonic() + this.leaseMs;
    else this.#controllers.get(id)?.abort(new LeaseholdError('LEASEHOLD_ROW_LOST', 'lost'));
  }
}
