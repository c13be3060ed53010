import { resolveAddress } from './address.ts';
import { publish } from './diagnostics.ts';
import type { Duration } from './duration.ts';
import { LeaseholdError, type LeaseholdErrorCode } from './errors.ts';
import { Heartbeat } from './lease/heartbeat.ts';
import { type RoleOptions, resolveRoleOptions } from './lease/lease-options.ts';
import { ManagedLease, type LeaseHost } from './lease/managed-lease.ts';
import { type LeaseRegistry, ManagedRegistry } from './lease/registry.ts';
import { Releaser, type Releasable } from './lease/releaser.ts';
import type { RoleLease, StepDownOutcome } from './lease/role-lease.ts';
import { validateRoleName } from './lease/role-name.ts';
import { type LeaseholdOptions, type ResolvedLeaseholdOptions, resolveLeaseholdOptions } from './leasehold-options.ts';
import type { InstanceIdentity, ReleaseOutcome, TermIdentity } from './store/lease-store.ts';

/** One instance's part in the agreement. Create one per process. */
export interface Leasehold extends AsyncDisposable {
  readonly instance: InstanceIdentity;
  readonly leases: LeaseRegistry;
  /**
   * Registers a role and competes for it once started.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_ROLE, LEASEHOLD_DUPLICATE_ROLE, LEASEHOLD_INVALID_DURATION,
   * LEASEHOLD_INVALID_TIMING, LEASEHOLD_INVALID_OPTION, LEASEHOLD_STOPPED; then nothing is registered.
   */
  role(name: string, options?: RoleOptions): RoleLease;
  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE */
  get(role: string): RoleLease;
  /**
   * Opens the store and begins the heartbeats; resolves after the first one, or as the `startup` option says.
   *
   * @throws {LeaseholdError} LEASEHOLD_ALREADY_STARTED, LEASEHOLD_STOPPED
   * @throws {LeaseholdError} LEASEHOLD_SCHEMA_MISSING, LEASEHOLD_SCHEMA_OUTDATED, LEASEHOLD_SCHEMA_NEWER,
   * LEASEHOLD_PERMISSION_DENIED: waiting would not mend these, so they reject with every `startup` but `background`.
   * @throws {LeaseholdError} LEASEHOLD_STORE_UNAVAILABLE, LEASEHOLD_STORE_TIMEOUT with `startup: 'fail'`.
   */
  start(): Promise<void>;
  /**
   * Stops for good: accepts no more work, aborts the term signals, waits for `whileHeld` work up to `drainTimeout`, gives
   * the roles back and wakes the others, and closes the store. What did not drain is not given back: it runs out. A
   * second call gets the promise of the first.
   *
   * @throws {LeaseholdError} LEASEHOLD_NOT_STARTED
   */
  stop(): Promise<void>;
  /** Tells the others where to reach this instance; they learn it with the heartbeat that this causes.
   * @throws {LeaseholdError} LEASEHOLD_INVALID_ADDRESS */
  advertise(address: string): void;
  /**
   * Steps down from every role and does not compete, before a deploy for instance, until {@link compete} or for as long
   * as `for` says.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION
   */
  standAside(options?: { readonly for?: Duration }): Promise<ReadonlyMap<string, StepDownOutcome>>;
  /** Ends standing aside. */
  compete(): void;
}

/**
 * Creates an instance's part in the agreement. Nothing happens before `start()`.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_TIMING,
 * LEASEHOLD_INVALID_ADDRESS, LEASEHOLD_NO_STORE
 */
export function createLeasehold(options: LeaseholdOptions = {}): Leasehold {
  return new ManagedLeasehold(resolveLeaseholdOptions(options));
}

/** Errors that trying again does not mend: somebody has to change something. */
const LASTING: ReadonlySet<LeaseholdErrorCode> = new Set([
  'LEASEHOLD_SCHEMA_MISSING',
  'LEASEHOLD_SCHEMA_OUTDATED',
  'LEASEHOLD_SCHEMA_NEWER',
  'LEASEHOLD_PERMISSION_DENIED',
  'LEASEHOLD_INVALID_OPTION',
  'LEASEHOLD_STOPPED',
]);

class ManagedLeasehold implements Leasehold, LeaseHost {
  readonly leases = new ManagedRegistry();
  readonly #options: ResolvedLeaseholdOptions;
  readonly #heartbeat: Heartbeat;
  readonly #releaser: Releaser;
  #instance: InstanceIdentity;
  #phase: 'idle' | 'started' | 'stopping' = 'idle';
  #stopped: Promise<void> | null = null;
  #onAttempt: (error: unknown) => void = () => {};

  constructor(options: ResolvedLeaseholdOptions) {
    this.#options = options;
    this.#instance = { id: options.id, label: options.label, address: options.address };
    const { store, clock, logger, random, callTimeoutMs, timing } = options;
    const instance = (): InstanceIdentity => this.#instance;
    this.#releaser = new Releaser({ store, clock, logger, instance, budgetMs: options.releaseTimeoutMs });
    this.#heartbeat = new Heartbeat({
      leases: this.leases,
      store,
      clock,
      logger,
      random,
      instance,
      callTimeoutMs,
      presenceMs: timing.renewMs,
      instanceTtlMs: timing.leaseMs,
      onAttempt: (error) => this.#onAttempt(error),
      giveBack: (role, fencingToken) => void this.release(role, fencingToken),
    });
  }

  get instance(): InstanceIdentity {
    return this.#instance;
  }

  get clock(): ResolvedLeaseholdOptions['clock'] {
    return this.#options.clock;
  }

  get logger(): ResolvedLeaseholdOptions['logger'] {
    return this.#options.logger;
  }

  get drainTimeoutMs(): number {
    return this.#options.drainTimeoutMs;
  }

  role(name: string, options: RoleOptions = {}): RoleLease {
    this.#requireNotStopped('role()');
    const role = validateRoleName(name);
    this.leases.requireFree(role);
    const lease = new ManagedLease(role, resolveRoleOptions(options, this.#options.timingOptions), this);
    this.leases.add(lease);
    this.#heartbeat.add(lease);
    return lease;
  }

  get(role: string): RoleLease {
    return this.leases.get(role);
  }

  async start(): Promise<void> {
    this.#requireNotStopped('start()');
    if (this.#phase === 'started') {
      throw new LeaseholdError('LEASEHOLD_ALREADY_STARTED', 'start() was called before; call it once, and await that call.');
    }
    this.#phase = 'started';
    const ready = this.#untilReady();
    this.#heartbeat.run();
    const error = await ready;
    if (error === undefined) return;
    if (this.#phase === 'started') await this.#backToIdle();
    throw error;
  }

  async #backToIdle(): Promise<void> {
    await this.#heartbeat.stop();
    await this.#options.store.close();
    if (this.#phase === 'started') this.#phase = 'idle';
  }

  /** Resolves with undefined when start() may, or with the error that it rejects with. */
  #untilReady(): Promise<unknown> {
    const { startup } = this.#options;
    if (startup === 'background') return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#onAttempt = (error) => {
      const lasting = error instanceof LeaseholdError && LASTING.has(error.code);
      if (error !== undefined && !lasting && startup === 'wait') return;
      this.#onAttempt = () => {};
      resolve(error);
    };
    return promise;
  }

  stop(): Promise<void> {
    if (this.#phase === 'idle') {
      return Promise.reject(
        new LeaseholdError('LEASEHOLD_NOT_STARTED', 'stop() was called before start(); there is nothing to stop.'),
      );
    }
    this.#phase = 'stopping';
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    for (const lease of this.leases) lease.beginStop();
    const releasable = await Promise.all([...this.leases].map((lease) => this.#drain(lease)));
    await this.#heartbeat.stop();
    this.#onAttempt(new LeaseholdError('LEASEHOLD_STOPPED', 'stop() was called while start() was waiting for the store.'));
    if (this.#heartbeat.hasOpened) {
      const outcomes = await this.#releaser.release(releasable.flat(), { leaving: true });
      this.#announceReleases(releasable.flat(), outcomes);
    }
    await this.#options.store.close();
  }

  async #drain(lease: ManagedLease): Promise<Releasable[]> {
    const drained = await lease.drained(this.#options.drainTimeoutMs);
    const fencingToken = lease.takeLeavingToken();
    if (!drained) {
      this.logger.warn({ role: lease.role }, 'work still runs at the drain timeout; the lease is left to run out');
      return [];
    }
    return fencingToken !== null || lease.mayBeNamed ? [{ role: lease.role, fencingToken }] : [];
  }

  #announceReleases(roles: readonly Releasable[], outcomes: ReadonlyMap<string, ReleaseOutcome>): void {
    for (const { role, fencingToken } of roles) {
      const outcome = outcomes.get(role);
      if (outcome === 'released' && fencingToken !== null)
        publish('leasehold:lease.released', { instance: this.#instance.id, role, fencingToken });
      if (outcome === 'unknown') this.logger.warn({ role }, 'the role could not be given back; the lease is left to run out');
    }
  }

  advertise(address: string): void {
    const resolved = resolveAddress('address', address);
    if (resolved === this.#instance.address) return;
    this.#instance = { ...this.#instance, address: resolved };
    this.#heartbeat.askAll();
  }

  async standAside(options: { readonly for?: Duration } = {}): Promise<ReadonlyMap<string, StepDownOutcome>> {
    const standAside = options.for ?? 'until-told';
    const outcomes = [...this.leases].map(async (lease) => [lease.role, await lease.stepDown({ standAside })] as const);
    return new Map(await Promise.all(outcomes));
  }

  compete(): void {
    for (const lease of this.leases) lease.compete();
    this.#heartbeat.askAll();
  }

  fence(client: unknown, term: TermIdentity): Promise<void> {
    return this.#options.store.fence(client, term);
  }

  async release(role: string, fencingToken: bigint): Promise<ReleaseOutcome> {
    const roles = [{ role, fencingToken }];
    const outcomes = await this.#releaser.release(roles, { leaving: false });
    this.#announceReleases(roles, outcomes);
    return outcomes.get(role) ?? 'unknown';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#phase !== 'idle') await this.stop();
  }

  #requireNotStopped(call: string): void {
    if (this.#phase !== 'stopping') return;
    throw new LeaseholdError('LEASEHOLD_STOPPED', `${call} after stop(); create a new Leasehold with createLeasehold().`);
  }
}
