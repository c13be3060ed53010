import { delay, keepProcessAlive } from '../../clock.ts';
import { resolveDuration } from '../../duration.ts';
import { Waiters } from '../../lease/waiters.ts';
import type { Claim } from '../claim.ts';
import type { SqlClient } from '../client.ts';
import { isHeldRoles } from '../held-roles.ts';
import { currentWhere } from '../where.ts';
import { Announcer } from './announce.ts';
import { Counters } from './counters.ts';
import { IdlePace } from './idle-pace.ts';
import { LiveClaim } from './live-claim.ts';
import { Outage } from './outage.ts';
import { Poller } from './poller.ts';
import { Prefetch } from './prefetch.ts';
import { Refusals } from './refusals.ts';
import type { ResolvedWorkOptions } from './resolve-work-options.ts';
import { watchRoles } from './role-watch.ts';
import { type ClaimedEntry, RowWork } from './row-work.ts';
import { SettleDesk } from './settle-desk.ts';
import { Slots } from './slots.ts';
import { subscribeHint } from './hint.ts';
import { within } from './within.ts';
import type { StopOptions, Worker, WorkerStats } from './worker.ts';
import type { WorkSource } from './work-source.ts';
import type { Written } from './write-outcomes.ts';

/** How long a stop waits for the database: what is not written by then is claimed again after its lease. */
const LAST_WRITES_MS = 5_000;

export interface ManagedWorkerOptions<Row extends object> {
  readonly source: WorkSource<Row>;
  readonly client: SqlClient;
  readonly options: ResolvedWorkOptions<Row>;
}

export class ManagedWorker<Row extends object> implements Worker {
  readonly ended: Promise<void>;
  readonly #source: WorkSource<Row>;
  readonly #client: SqlClient;
  readonly #options: ResolvedWorkOptions<Row>;
  readonly #counters = new Counters();
  readonly #announcer: Announcer;
  readonly #prefetch: Prefetch;
  readonly #refusals: Refusals;
  readonly #desk: SettleDesk<Row>;
  readonly #work: RowWork<Row>;
  readonly #slots: Slots<ClaimedEntry<Row>>;
  readonly #poller: Poller;
  readonly #polling: Promise<void>;
  readonly #idle = new Waiters();
  readonly #stopSoon = new AbortController();
  readonly #letProcessEnd = keepProcessAlive();
  readonly #subscriptions: (() => void)[];
  readonly #end: () => void;
  #state: Worker['state'] = 'running';
  #stopping: Promise<void> | null = null;

  constructor({ source, client, options }: ManagedWorkerOptions<Row>) {
    this.#source = source;
    this.#client = client;
    this.#options = options;
    const { clock, logger, name } = source;
    const { random, leaseMs, concurrency, minIdleMs, maxIdleMs } = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
    const announcer = new Announcer(name, logger);
    this.#announcer = announcer;
    this.#prefetch = new Prefetch({ concurrency, most: options.prefetch, leaseMs });
    this.#refusals = new Refusals({ clock, longestPauseMs: maxIdleMs });
    const onRefused = (row: object, error: unknown): void => this.#refused(row, error);
    this.#desk = new SettleDesk<Row>({ clock, random, leaseMs, onRefused, onSettled: (...told) => this.#settled(...told) });
    this.#work = new RowWork({ source, options, counters: this.#counters, announcer, prefetch: this.#prefetch });
    this.#slots = new Slots({ count: concurrency, work: (entry) => this.#work.work(entry), onRoom: () => this.#roomFreed() });
    this.#poller = new Poller({
      clock,
      idle: new IdlePace({ minMs: minIdleMs, maxMs: maxIdleMs, random }),
      outage: new Outage({ logger, table: name, longestPauseMs: maxIdleMs, random }),
      room: () => this.#room(),
      claim: (limit) => this.#claim(limit),
      nextDueMs: () => this.#nextDueMs(),
    });
    this.#subscriptions = [subscribeHint({ wakeUp: options.wakeUp, random, poller: this.#poller, announcer })];
    if (isHeldRoles(options.where)) this.#subscriptions.push(watchRoles(options.where, this.#poller));
    this.#polling = this.#poller.run();
  }

  get state(): Worker['state'] {
    return this.#state;
  }

  stats(): WorkerStats {
    const { waiting, running } = this.#slots;
    return { ...this.#counters, waiting, running, stuck: this.#work.stuck, unsettled: this.#desk.unsettled };
  }

  /** Room for what fits in the lease, less what is here; none while outcomes pile up. */
  #room(): number {
    const { concurrency } = this.#options;
    const { allowance } = this.#prefetch;
    const { waiting, running } = this.#slots;
    const most = concurrency + allowance;
    const isFull = this.#desk.isTroubled || this.#desk.unsettled >= most * 2;
    // What waits is used up by half first: a claim for each slot that becomes free would be one for each row.
    if (isFull || (waiting > 0 && waiting > allowance / 2)) return 0;
    return Math.min(most - waiting - running, 10_000);
  }

  async #claim(limit: number): Promise<number> {
    const { clock } = this.#source;
    const { leaseMs, where } = this.#options;
    if (this.#refusals.pauseMs > 0) await delay(clock, this.#refusals.pauseMs, this.#stopSoon.signal);
    if (this.#state !== 'running') return 0;
    const startedAt = clock.monotonic();
    const condition = currentWhere(where);
    const options = { ...this.#options.claim, limit, ...(condition === undefined ? {} : { where: condition }) };
    const onLate = (late: Claim<Row>): void => void late[Symbol.asyncDispose]();
    const what = 'a claim of rows';
    const claim = await within(this.#source.claim(this.#client, options), { clock, ms: leaseMs, what, onLate });
    this.#counters.claim(claim.rows.length, claim.buried);
    this.#announcer.claimed(claim, { asked: limit, durationMs: clock.monotonic() - startedAt });
    this.#take(claim);
    return claim.rows.length + claim.buried;
  }

  #take(claim: Claim<Row>): void {
    if (claim.rows.length === 0) return claim.close();
    const live = new LiveClaim(claim, this.#desk);
    const entries = claim.rows.map((row) => ({ row, live }));
    // The stop was told while the claim was on its way.
    if (this.#state === 'running') this.#slots.add(entries);
    else for (const entry of entries) this.#work.release(entry);
  }

  async #nextDueMs(): Promise<number | null> {
    const { clock } = this.#source;
    const options = { clock, ms: this.#options.leaseMs, what: 'a look at what is due next', onLate: () => {} };
    return within(this.#source.nextDueMs(this.#client), options);
  }

  #refused(row: object, error: unknown): void {
    this.#announcer.refused(row, error);
    this.#refusals.refused();
  }

  #settled(claim: Claim<Row>, row: Row, { outcome, fate }: Written): void {
    this.#counters.settled(outcome.outcome, fate);
    if (fate === 'done') this.#refusals.written();
    if (fate !== null) this.#announcer.settled(claim.id, row, { outcome: outcome.outcome, fate });
    if (fate === 'done' && outcome.outcome === 'retry') this.#poller.dueIn(this.#msUntil(outcome.after));
    this.#poller.lookForRoom();
  }

  #msUntil(after: unknown): number {
    if (after instanceof Date) return Math.max(after.getTime() - this.#source.clock.wall(), 0);
    return resolveDuration('after', after, { min: 0 });
  }

  #roomFreed(): void {
    this.#poller.lookForRoom();
    if (this.#slots.running === 0) this.#idle.tell();
  }

  stop({ drainFor = this.#options.drainMs }: StopOptions = {}): Promise<void> {
    const drainMs = resolveDuration('drainFor', drainFor, { min: 0 });
    this.#stopping ??= this.#stop(drainMs);
    return this.#stopping;
  }

  async #stop(drainMs: number): Promise<void> {
    this.#state = 'stopping';
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#poller.stop();
    this.#stopSoon.abort();
    for (const entry of this.#slots.takeWaiting()) this.#work.release(entry);
    await this.#drained(drainMs);
    if (this.#slots.running > 0) {
      this.#work.abortAll();
      await this.#drained(this.#options.graceMs);
    }
    await this.#untilPolled();
    await this.#desk.flush(LAST_WRITES_MS);
    const { running, unsettled } = this.stats();
    if (running + unsettled > 0) this.#announcer.notDrained(running, unsettled);
    this.#state = 'stopped';
    this.#letProcessEnd();
    this.#end();
  }

  async #drained(ms: number): Promise<void> {
    if (this.#slots.running === 0) return;
    const over = new AbortController();
    await Promise.race([this.#idle.wait(over.signal), delay(this.#source.clock, ms, over.signal)]);
    over.abort();
  }

  /** A claim that is on its way hands its rows back when it is answered. */
  async #untilPolled(): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.#polling, delay(this.#source.clock, LAST_WRITES_MS, over.signal)]);
    over.abort();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
