import { type Clock, delay } from '../clock.ts';
import { publish } from '../diagnostics.ts';
import { LeaseholdError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { callStore } from '../store/call-store.ts';
import type { InstanceIdentity, LeaseStore } from '../store/lease-store.ts';
import { timeoutOfCall } from './call-timeout.ts';
import { DeadlineWatch } from './deadline-watch.ts';
import { announceFailure, takeTurn, type TurnResult } from './heartbeat-turn.ts';
import type { ManagedLease } from './managed-lease.ts';
import { earlyRetryDelay, type Random, retryDelay, wakeDelay } from './pacing.ts';
import type { Party } from './party.ts';
import { Schedule } from './schedule.ts';

export interface HeartbeatOptions {
  readonly leases: Iterable<ManagedLease> & { find(role: string): ManagedLease | undefined };
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly instance: () => InstanceIdentity;
  readonly callTimeoutMs: number;
  /** That of the timing that `callTimeoutMs` was made for. */
  readonly slackMs: number;
  /** Interval of the beat that says "this instance lives", also without a role. */
  readonly presenceMs: number;
  readonly instanceTtlMs: number;
  readonly party: Party;
  /** Told about each try to open the store or to beat, with its error or with undefined. */
  readonly onAttempt: (error: unknown) => void;
  /** Gives back a role that was won after it was no longer wanted. */
  readonly giveBack: (role: string, fencingToken: bigint) => void;
}

/** Migrating a schema, or waiting for another instance that does, may take longer than a heartbeat. */
const OPEN_TIMEOUT_MS = 30_000;
/** However many hints arrive, they cause no more heartbeats than one in this time. */
const WAKE_FLOOR_MS = 100;
/** Between two heartbeats, whatever the schedule says: a loop that asks again at once would starve the process. */
const SHORTEST_GAP_MS = 10;
const STALL_MS = 250;

/**
 * The loop that keeps every lease of this process: it sleeps until something is due, sends one heartbeat, takes in the
 * answers, and never has two in flight. No error ends it; only {@link stop} does.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #schedule: Schedule;
  readonly #watch: DeadlineWatch;
  #opened = false;
  #failures = 0;
  #lastSentAt = Number.NEGATIVE_INFINITY;
  #notBefore = Number.NEGATIVE_INFINITY;
  #stopping = false;
  #opening = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #poke: () => void = () => {};

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#schedule = new Schedule(options.leases, options.random);
    this.#watch = new DeadlineWatch(options.clock, options.leases);
  }

  /** False: nothing was ever asked of the store, so there is nothing to give back. */
  get hasOpened(): boolean {
    return this.#opened;
  }

  run(): void {
    this.#stopping = false;
    this.#opened = false;
    this.#opening = new AbortController();
    this.#failures = 0;
    this.#notBefore = Number.NEGATIVE_INFINITY;
    this.#schedule.addInterval(this.#options.presenceMs, this.#now());
    // After a start that failed, its last heartbeat does not count.
    this.#schedule.askAll(this.#now());
    this.#loop = this.#runLoop();
  }

  /** Starts no further heartbeat, and waits for the one in flight, which its deadline bounds. Opening is broken off. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#opening.abort(new LeaseholdError('LEASEHOLD_STOPPED', 'stop() was called while the store was being opened.'));
    this.#poke();
    await this.#loop;
    this.#watch.cancel();
  }

  /** A lease was registered. */
  add(lease: ManagedLease): void {
    this.#schedule.addInterval(lease.timing.renewMs, this.#now());
    this.askSoon(lease, 0);
  }

  askSoon(lease: ManagedLease, delayMs: number): void {
    this.#schedule.askEarly(lease, this.#now() + delayMs);
    this.#poke();
  }

  /** Everything is asked for at once: the instance has news for all rows, such as its address. */
  askAll(): void {
    this.#schedule.askAll(this.#now());
    this.#poke();
  }

  /** A hint that roles changed hands. Those held here have nothing to learn from it. */
  wakeUp(roles: readonly string[] | 'all'): void {
    const { leases, random } = this.#options;
    const named = roles === 'all' ? [...leases] : roles.map((role) => leases.find(role));
    const at = Math.max(this.#now() + wakeDelay(random), this.#lastSentAt + WAKE_FLOOR_MS);
    for (const lease of named) {
      if (lease === undefined || lease.isHeld) continue;
      lease.wokenUp();
      this.#schedule.askEarly(lease, at);
    }
    this.#poke();
  }

  async #runLoop(): Promise<void> {
    while (!this.#stopping) {
      await this.#sleep();
      if (this.#stopping) return;
      const error = await this.#attempt();
      this.#countFailure(error);
      this.#notBefore = this.#now() + (error === undefined ? this.#shortestGap() : this.#backoff());
      this.#tellAttempt(error);
    }
  }

  /** An instance has started when its partitions, too, know whether they take part. */
  #tellAttempt(error: unknown): void {
    const { party, onAttempt } = this.#options;
    if (error !== undefined || party.isDecided) onAttempt(error ?? party.problem);
  }

  /** The few heartbeats that a partition needs before it takes part make no loop, and nobody should wait for them. */
  #shortestGap(): number {
    return this.#options.party.isDecided ? SHORTEST_GAP_MS : 0;
  }

  async #sleep(): Promise<void> {
    const { clock, instance } = this.#options;
    while (!this.#stopping) {
      const wakeAt = Math.max(this.#schedule.nextAt, this.#notBefore);
      if (this.#now() >= wakeAt) return;
      const poked = new AbortController();
      this.#poke = () => poked.abort();
      await delay(clock, wakeAt - this.#now(), poked.signal);
      const lateMs = this.#now() - wakeAt;
      if (lateMs > STALL_MS) publish('leasehold:stall', { instance: instance().id, lateMs });
    }
  }

  /** Opens the store if need be and beats once; the answer is what went wrong, or undefined. */
  async #attempt(): Promise<unknown> {
    try {
      await this.#open();
      return await this.#beat();
    } catch (error) {
      return error;
    } finally {
      this.#watch.arm();
    }
  }

  async #open(): Promise<void> {
    if (this.#opened) return;
    const { clock, store, instance, logger, callTimeoutMs } = this.#options;
    const context = {
      instance: instance(),
      logger,
      longestCallMs: callTimeoutMs,
      wakeUp: (roles: readonly string[] | 'all') => this.wakeUp(roles),
    };
    const limits = { clock, timeoutMs: OPEN_TIMEOUT_MS, what: 'request to open', cancel: this.#opening.signal };
    const sentAt = { monotonic: this.#now() };
    try {
      await callStore(limits, (call) => store.open(context, call));
    } catch (error) {
      // Whoever watches the heartbeats must not see silence while the store is away.
      if (!this.#stopping) announceFailure({ clock, instance: instance() }, { sentAt, asked: 0, error });
      throw error;
    }
    this.#opened = true;
  }

  async #beat(): Promise<unknown> {
    const { store, clock, instance, party } = this.#options;
    const leases = this.#schedule.takeDue(this.#now());
    for (const lease of leases) lease.tend();
    const membership = party.prepare();
    const instanceTtlMs = Math.max(this.#options.instanceTtlMs, party.longestLeaseMs);
    this.#lastSentAt = this.#now();
    const timeoutMs = timeoutOfCall(this.#options);
    const result = await takeTurn(leases, { store, clock, instance: instance(), instanceTtlMs, membership, timeoutMs });
    if (result.error === undefined) this.#takeIn(result, instanceTtlMs);
    else this.#retryLater(leases);
    return result.error;
  }

  #takeIn({ sentAt, answers, members }: TurnResult, ttlMs: number): void {
    const { giveBack, random, party } = this.#options;
    const wanted = new Set<ManagedLease>();
    for (const { lease, ask, report } of answers) {
      if (report === undefined) {
        lease.heartbeatFailed();
        continue;
      }
      if (ask.kind === 'acquire') wanted.add(lease);
      const unwanted = lease.settle(ask, report, sentAt);
      if (unwanted !== null) giveBack(lease.role, unwanted);
      this.#schedule.askEarly(lease, this.#now() + earlyRetryDelay(ask, report, random));
    }
    for (const lease of party.takeIn({ members, sentAt, ttlMs })) {
      // What could not be taken just now has a time of its own for the next try: a row that is locked would make this a loop.
      if (!wanted.has(lease)) this.#schedule.askEarly(lease, this.#now());
    }
  }

  #retryLater(leases: readonly ManagedLease[]): void {
    for (const lease of leases) {
      lease.heartbeatFailed();
      this.#schedule.askEarly(lease, this.#now());
    }
  }

  #backoff(): number {
    return retryDelay(this.#failures, this.#schedule.shortestIntervalMs, this.#options.random);
  }

  #countFailure(error: unknown): void {
    const { logger, store } = this.#options;
    if (error === undefined) {
      if (this.#failures > 0) logger.info({ store: store.name, failures: this.#failures }, 'the store answers again');
      this.#failures = 0;
      return;
    }
    this.#failures += 1;
    if (this.#failures === 1)
      logger.warn({ err: error, store: store.name }, 'the store does not answer; trying again until it does');
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }
}
