import { resolveAddress } from './address.ts';
import { keepProcessAlive } from './clock.ts';
import { type Duration, resolveDuration } from './duration.ts';
import { LeaseholdError } from './errors.ts';
import { GiveBack } from './lease/give-back.ts';
import { Heartbeat } from './lease/heartbeat.ts';
import { createHealthGate } from './lease/health-gate.ts';
import { type RoleOptions, resolveRoleOptions } from './lease/lease-options.ts';
import { askCanHold } from './lease/can-hold.ts';
import { requireObject } from './require-option.ts';
import type { LeaseHost } from './lease/lease-host.ts';
import { ManagedLease, type ManagedLeaseOptions } from './lease/managed-lease.ts';
import { ManagedRegistry } from './lease/registry.ts';
import type { Waiters } from './lease/waiters.ts';
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

export class ManagedLeasehold implements Leasehold, LeaseHost {
  readonly leases: ManagedRegistry = new ManagedRegistry();
  readonly termsBegun: Waiters = this.leases.termsBegun;
  readonly #options: ResolvedLeaseholdOptions;
  readonly #party: PartitionParty;
  readonly #heartbeat: Heartbeat;
  readonly #giveBack: GiveBack;
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
    this.#party = new PartitionParty({
      clock,
      logger,
      instanceId: id,
      weight,
      storeName: store.name,
      isDraining: () => this.#isDraining,
    });
    const instance = (): InstanceIdentity => this.#instance;
    this.#giveBack = new GiveBack({ store, clock, logger, instance, budgetMs: options.releaseTimeoutMs });
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

  get hasStarted(): boolean {
    return this.#phase !== 'idle';
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
    const lease = new ManagedLease(role, this.#leaseOptions('role()', options)(role), this);
    this.#register([lease]);
    return lease;
  }

  partition(name: string, options: PartitionOptions): RolePartition {
    this.#requireNotStopped('partition()');
    const { roles, isFair, roleOptions, ...resolved } = resolvePartition(name, options);
    this.#party.requireFree(resolved.name);
    for (const role of roles) this.leases.requireFree(role);
    const optionsOf = this.#leaseOptions('partition()', roleOptions);
    const leases = roles.map((role, place) => new ManagedPartitionLease(place, role, optionsOf(role), this));
    const partition = new ManagedPartition(resolved.name, leases);
    this.#party.add(partition, isFair);
    this.#register(leases);
    return partition;
  }

  /** The options of several roles, which share one health check. */
  #leaseOptions(where: string, options: RoleOptions): (role: string) => ManagedLeaseOptions {
    const { canHold, timingOptions } = this.#options;
    const resolved = resolveRoleOptions(where, options, timingOptions);
    const health = createHealthGate(this.clock, resolved);
    return (role) => ({ ...resolved, health, excluded: !askCanHold(canHold, role) });
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
    if (this.#party.problem !== undefined) {
      // It is known to the others already, and holds roles that nobody renews any more.
      const leases = [...this.leases];
      for (const lease of leases) lease.leaveAfterFailedStart();
      await this.#giveBack.leave(await this.#giveBack.drainAndReleaseAll(leases));
    }
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
    this.#tellDraining();
    const results = await this.#giveBack.drainAndReleaseAll(leases);
    await this.#heartbeat.stop();
    this.#startup?.attempted(
      new LeaseholdError('LEASEHOLD_STOPPED', 'stop() was called while start() was waiting for the store.'),
    );
    if (this.#heartbeat.hasOpened) await this.#giveBack.leave(results);
    await this.#closeStore();
  }

  /** At once: the others take no more than their shares until they know. */
  #tellDraining(): void {
    if (!this.#party.isEmpty) this.#heartbeat.askAll();
  }

  #closeStore(): Promise<void> {
    const { store, clock, logger, releaseTimeoutMs } = this.#options;
    return closeStore(store, { clock, logger, timeoutMs: releaseTimeoutMs });
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
    this.#tellDraining();
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

  release(role: string, fencingToken: bigint): Promise<ReleaseOutcome> {
    return this.#giveBack.release(role, fencingToken);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#phase !== 'idle') await this.stop();
  }

  #requireNotStopped(call: string): void {
    if (this.#phase !== 'stopping') return;
    throw new LeaseholdError('LEASEHOLD_STOPPED', `${call} after stop(); create a new Leasehold with createLeasehold().`);
  }
}
