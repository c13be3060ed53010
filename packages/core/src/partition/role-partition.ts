import type { RoleLease, WhileHeldResult } from '../lease/role-lease.ts';
import type { Term } from '../lease/term.ts';

/** The lease of one role of a partition. */
export interface PartitionLease extends RoleLease {
  /** Its place: 0 to one less than the count. */
  readonly partition: number;
}

/**
 * A fixed number of roles that keys are spread over: whose key it is, is whose role it is. Where a key belongs is told
 * locally, without I/O, and alike on every instance.
 *
 * A key may have a scope, which keeps keys of different kinds apart that look the same: order 7 and customer 7.
 */
export interface RolePartition extends Iterable<PartitionLease> {
  readonly name: string;
  readonly count: number;
  /** The lease of each role, in the order of the partitions. */
  readonly partitions: readonly PartitionLease[];
  /**
   * The lease of the role that the key belongs to: always the same object for the same role, and live.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_AFFINITY_KEY
   */
  resolve(key: string): PartitionLease;
  resolve(scope: string, key: string): PartitionLease;
  /**
   * Whether this instance holds the role of the key: computed at the call, without I/O. See {@link RoleLease.isHeld}.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_AFFINITY_KEY
   */
  isHeld(key: string): boolean;
  isHeld(scope: string, key: string): boolean;
  /**
   * Runs `work` once if the role of the key is held, and waits for it. See {@link RoleLease.whileHeld}.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_AFFINITY_KEY, LEASEHOLD_INVALID_OPTION
   */
  whileHeld<T>(key: string, work: (term: Term) => T | Promise<T>): Promise<WhileHeldResult<T>>;
  whileHeld<T>(scope: string, key: string, work: (term: Term) => T | Promise<T>): Promise<WhileHeldResult<T>>;
}
