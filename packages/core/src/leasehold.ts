import type { Duration } from './duration.ts';
import type { RoleOptions } from './lease/lease-options.ts';
import type { LeaseRegistry } from './lease/registry.ts';
import type { RoleLease, StepDownOutcome } from './lease/role-lease.ts';
import { type LeaseholdOptions, type ResolvedLeaseholdOptions, resolveLeaseholdOptions } from './leasehold-options.ts';
import { ManagedLeasehold } from './managed-leasehold.ts';
import type { PartitionOptions } from './partition/partition-options.ts';
import type { RolePartition } from './partition/role-partition.ts';
import type { InstanceIdentity } from './store/lease-store.ts';
import { memoryStore } from './store/memory-store.ts';

/** One instance's part in the agreement. Create one per process. */
export interface Leasehold extends AsyncDisposable {
  readonly instance: InstanceIdentity;
  readonly leases: LeaseRegistry;
  /**
   * Whether {@link start} was called and has not failed; otherwise this instance competes for nothing and knows no holder. It
   * stays true after {@link stop}.
   */
  readonly hasStarted: boolean;
  /**
   * Registers a role and competes for it once started.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_ROLE, LEASEHOLD_DUPLICATE_ROLE, LEASEHOLD_INVALID_DURATION,
   * LEASEHOLD_INVALID_TIMING, LEASEHOLD_INVALID_OPTION, LEASEHOLD_STOPPED; then nothing is registered.
   */
  role(name: string, options?: RoleOptions): RoleLease;
  /**
   * Registers all roles of a partition, `devices:partition-0` and so on, and competes for them once started; or registers none.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_ROLE, LEASEHOLD_DUPLICATE_ROLE, LEASEHOLD_INVALID_DURATION,
   * LEASEHOLD_INVALID_TIMING, LEASEHOLD_INVALID_OPTION, LEASEHOLD_STOPPED; then nothing is registered.
   */
  partition(name: string, options: PartitionOptions): RolePartition;
  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE */
  get(role: string): RoleLease;
  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE */
  getPartition(name: string): RolePartition;
  /**
   * Opens the store and begins the heartbeats; resolves after the first one, or as the `startup` option says. From then on
   * the process stays alive until {@link stop}, also while the store is away and nothing else would keep it.
   *
   * @throws {LeaseholdError} LEASEHOLD_ALREADY_STARTED, LEASEHOLD_STOPPED
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when another Leasehold uses the store.
   * @throws {LeaseholdError} LEASEHOLD_SCHEMA_MISSING, LEASEHOLD_SCHEMA_OUTDATED, LEASEHOLD_SCHEMA_NEWER,
   * LEASEHOLD_PERMISSION_DENIED, LEASEHOLD_PARTITION_COUNT: waiting would not mend these, so they reject with every `startup` but `background`.
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
   * as `for` says. A role that is registered meanwhile stands aside too.
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
  const resolved = resolveLeaseholdOptions(options);
  const leasehold = new ManagedLeasehold(resolved);
  optionsOf.set(leasehold, resolved);
  return leasehold;
}

/** By the Leasehold that was made of them: what a role's own options are laid over. */
const optionsOf = new WeakMap<Leasehold, ResolvedLeaseholdOptions>();

/** One that has the roles of another and is never started: what it refuses to register, the other would refuse. */
export function rehearsalOf(leasehold: Leasehold): Leasehold {
  // One that another copy of this library made has the usual timing here.
  const options = optionsOf.get(leasehold) ?? resolveLeaseholdOptions({ store: memoryStore() });
  const roles = new Set(Array.from(leasehold.leases, ({ role }) => role));
  const canHold = (role: string): boolean => roles.has(role) || options.canHold(role);
  const rehearsal = new ManagedLeasehold({ ...options, store: memoryStore(), canHold });
  for (const role of roles) rehearsal.role(role);
  return rehearsal;
}
