import { resolveAddress } from './address.ts';
import { keepProcessAlive } from './clock.ts';
import { publish } from './diagnostics.ts';
import { type Duration, resolveDuration } from './duration.ts';
import { LeaseholdError } from './errors.ts';
import { Heartbeat } from './lease/heartbeat.ts';
import { createHealthGate } from './lease/health-gate.ts';
import { type RoleOptions, resolveRoleOptions } from './lease/lease-options.ts';
import { requireObject } from './require-option.ts';
import { type LeaseHost, ManagedLease, type ManagedLeaseOptions } from './lease/managed-lease.ts';
import { ManagedRegistry } from './lease/registry.ts';
import { type Releasable, Releaser } from './lease/releaser.ts';
import type { RoleLease, StepDownOutcome } from './lease/role-lease.ts';
import { validateRoleName } from './lease/role-name.ts';
import type { Leasehold } from './leasehold.ts';
import type { ResolvedLeaseholdOptions } from './leasehold-options.ts';
import { ManagedPartition } from './partition/managed-partition.ts';
import { ManagedPartitionLease } from './partition/partition-lease.ts';
import { type PartitionOptions, resolvePartition } from './partition/partition-options.ts';
import { PartitionParty } from './partition/partition-party.ts';
import type { RolePartition } from './partition/role-partition.ts';
import { StartupWait } from './startup.ts';
import { claimStore, closeStore } from './store/stores-in-use.ts';
import type { InstanceIdentity, ReleaseOutcome, TermIdentity } from './store/lease-store.ts';

interface DrainResult {
  /** Drained and not given back: not held, or under another token than that of the row. */
  readonly unsure: readonly ManagedLease[];
  /** Nothing was told of any release within the budget. */
  readonly unanswered: boolean;
}

export class ManagedLeasehold implements Leasehold, LeaseHost {
  readonly leases: ManagedRegistry = new ManagedRegistry();
  readonly #options: ResolvedLeaseholdOptions;
  readonly #party: PartitionParty;
  readonly #heartbeat: Heartbeat;
  readonly #releaser: Releaser;
  #instance: InstanceIdentity;
  #phase: 'idle' | 'started' | 'stopping' = 'idle';
  #stopped: Promise<void> | null = null;
  /** Of the last start(); null before the first. */
  #startup: StartupWait | null = null;
  /** Monotonic; a role that is registered before then stands aside like those before it. */
  #asideUntil = Number.NEGATIVE_INFINITY;
  #letProcessEnd: () => void = () => {};

  constructor(options: ResolvedLeaseholdOptions) {
    this.#options = options;
    this.#instance = { id: options.id, label: options.label, address: options.address };
    const { store, clock, logger, random, callTimeoutMs, timing, id, weight } = options;
    this.#party = new PartitionParty({ clock, logger, instanceId: id, weight, storeName: store.name, isDraining: () => this.#isDraining });
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
      slackMs: timing.slackMs,
      presenceMs: timing.renewMs,
      instanceTtlMs: timing.leaseMs,
      party: this.#party,
      onAttempt: (error) => this.#startup?.attempted(error),
      giveBack: (role, fencingToken) => void this.release(role, fencingToken),
    });
  }

  get instance(): InstanceIdentity {
    return this.#instance;
  }

  get #isDraining(): boolean {
    return this.#phase === 'stopping' || this.clock.monotonic() < this.#asideUntil;
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
    const lease = new ManagedLease(role, this.#leaseOptions(options)(role), this);
    this.#register([lease]);
    return lease;
  }

  partition(name: string, options: PartitionOptions): RolePartition {
    this.#requireNotStopped('partition()');
    const { roles, isFair, roleOptions, ...resolved } = resolvePartition(name, options);
    this.#party.requireFree(resolved.name);
    for (const role of roles) this.leases.requireFree(role);
    const optionsOf = this.#leaseOptions(roleOptions);
    const leases = roles.map((role, place) => new ManagedPartitionLease(place, role, optionsOf(role), this));
    const partition = new ManagedPartition(resolved.name, leases);
    this.#party.add(partition, isFair);
    this.#register(leases);
    return partition;
  }

  /** The options of several roles, which share one health check. */
  #leaseOptions(options: RoleOptions): (role: string) => ManagedLeaseOptions {
    const { canHold, timingOptions } = this.#options;
    const resolved = resolveRoleOptions(options, timingOptions);
    const health = createHealthGate(this.clock, resolved);
    // Nothing but true: the promise of an answer would let this instance hold what it may not.
    return (role) => ({ ...resolved, health, excluded: (canHold(role) as unknown) !== true });
  }

  #register(leases: readonly ManagedLease[]): void {
    const asideMs = this.#asideUntil - this.clock.monotonic();
    for (const lease of leases) {
      lease.standAside(asideMs);
      this.leases.add(lease);
      this.#heartbeat.add(lease);
    }
  }

  getPartition(name: string): RolePartition {
    return this.#party.get(name);
  }

  get(role: string): RoleLease {
    return this.leases.get(role);
  }

  async start(): Promise<void> {
    this.#requireNotStopped('start()');
    if (this.#phase === 'started') {
      throw new LeaseholdError('LEASEHOLD_ALREADY_STARTED', 'start() was called before; call it once, and await that call.');
    }
    claimStore(this.#options.store);
    this.#phase = 'started';
    this.#letProcessEnd = keepProcessAlive();
    this.#startup = new StartupWait(this.#options);
    this.#heartbeat.run();
    const error = await this.#startup.settled;
    if (error === undefined) return;
    if (this.#phase === 'started') await this.#backToIdle();
    throw error;
  }

  async #backToIdle(): Promise<void> {
    await this.#heartbeat.stop();
    await this.#closeStore();
    this.#letProcessEnd();
    if (this.#phase === 'started') this.#phase = 'idle';
  }

  stop(): Promise<void> {
    // Nothing runs after a start() that failed; its error is the one to be seen.
    if (this.#phase === 'idle' && this.#startup !== null) return Promise.resolve();
    if (this.#phase === 'idle') {
      return Promise.reject(
        new LeaseholdError('LEASEHOLD_NOT_STARTED', 'stop() was called before start(); there is nothing to stop.'),
      );
    }
    this.#phase = 'stopping';
    if (this.#stopped !== null) return this.#stopped;
    // Known before it begins: it aborts term signals, whose listeners may call stop() too.
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stopped = promise;
    resolve(this.#stop().finally(this.#letProcessEnd));
    return promise;
  }

  async #stop(): Promise<void> {
    const leases = [...this.leases];
    for (const lease of leases) lease.beginStop();
    // What is idle goes at once, in one statement, and waits for nobody's work; the heartbeat renews the rest meanwhile.
    const idle = leases.filter((lease) => lease.isIdle);
    const busy = leases.filter((lease) => !lease.isIdle);
    const results = await Promise.all([this.#drainAndRelease(idle), ...busy.map((lease) => this.#drainAndRelease([lease]))]);
    await this.#heartbeat.stop();
    this.#startup?.attempted(
      new LeaseholdError('LEASEHOLD_STOPPED', 'stop() was called while start() was waiting for the store.'),
    );
    await this.#leave(results);
    await this.#closeStore();
  }

  #closeStore(): Promise<void> {
    const { store, clock, logger, releaseTimeoutMs } = this.#options;
    return closeStore(store, { clock, logger, timeoutMs: releaseTimeoutMs });
  }

  /**
   * After the last heartbeat: gives back by name what the rows may say is ours though we do not know of it. Any acquisition
   * that was given up may have taken effect, also after later answers. A store that did not answer just now is not asked again.
   */
  async #leave(results: readonly DrainResult[]): Promise<void> {
    if (!this.#heartbeat.hasOpened || results.some(({ unanswered }) => unanswered)) return;
    const roles = results.flatMap(({ unsure }) => unsure.map(byName));
    await this.#releaser.release(roles, { leaving: true });
  }

  /** Gives back what drained in time. */
  async #drainAndRelease(leases: readonly ManagedLease[]): Promise<DrainResult> {
    const results = await Promise.all(leases.map(async (lease) => ({ lease, ...(await lease.drain()) })));
    const releasable: Releasable[] = [];
    for (const { lease, drained, fencingToken } of results) {
      if (drained && fencingToken !== null) releasable.push({ role: lease.role, fencingToken });
      if (!drained) this.logger.warn({ role: lease.role }, 'work still runs at the drain timeout; the lease is left to run out');
    }
    const outcomes = releasable.length > 0 ? await this.#releaseAll(releasable) : new Map<string, ReleaseOutcome>();
    const drained = results.filter((result) => result.drained).map(({ lease }) => lease);
    return {
      unsure: drained.filter(({ role }) => (outcomes.get(role) ?? 'not-held') === 'not-held'),
      unanswered: outcomes.size > 0 && [...outcomes.values()].every((outcome) => outcome === 'unknown'),
    };
  }

  async #releaseAll(roles: readonly Releasable[]): Promise<ReadonlyMap<string, ReleaseOutcome>> {
    const outcomes = await this.#releaser.release(roles, { leaving: false });
    for (const { role, fencingToken } of roles) {
      const outcome = outcomes.get(role);
      if (outcome === 'released' && fencingToken !== null)
        publish('leasehold:lease.released', { instance: this.#instance.id, role, fencingToken });
      if (outcome === 'unknown') this.logger.warn({ role }, 'the role could not be given back; the lease is left to run out');
    }
    return outcomes;
  }

  advertise(address: string): void {
    const resolved = resolveAddress('address', address);
    if (resolved === this.#instance.address) return;
    this.#instance = { ...this.#instance, address: resolved };
    this.#heartbeat.askAll();
  }

  async standAside(options: { readonly for?: Duration } = {}): Promise<ReadonlyMap<string, StepDownOutcome>> {
    requireObject('options', options);
    const standAside = options.for ?? 'until-told';
    const forMs = standAside === 'until-told' ? Number.POSITIVE_INFINITY : resolveDuration('for', standAside, { min: 0 });
    this.#asideUntil = Math.max(this.#asideUntil, this.clock.monotonic() + forMs);
    const outcomes = [...this.leases].map(async (lease) => [lease.role, await lease.stepDown({ standAside })] as const);
    return new Map(await Promise.all(outcomes));
  }

  compete(): void {
    this.#asideUntil = Number.NEGATIVE_INFINITY;
    for (const lease of this.leases) lease.compete();
    this.#heartbeat.askAll();
  }

  fence(client: unknown, term: TermIdentity): Promise<void> {
    return this.#options.store.fence(client, term);
  }

  async release(role: string, fencingToken: bigint): Promise<ReleaseOutcome> {
    return (await this.#releaseAll([{ role, fencingToken }])).get(role) ?? 'unknown';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#phase !== 'idle') await this.stop();
  }

  #requireNotStopped(call: string): void {
    if (this.#phase !== 'stopping') return;
    throw new LeaseholdError('LEASEHOLD_STOPPED', `${call} after stop(); create a new Leasehold with createLeasehold().`);
  }
}

/** For a role that this instance may hold without knowing the token. */
function byName({ role }: ManagedLease): Releasable {
  return { role, fencingToken: null };
}
