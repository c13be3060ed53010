import type { LeaseHost } from '../lease/lease-host.ts';
import { ManagedLease, type ManagedLeaseOptions } from '../lease/managed-lease.ts';
import type { PartitionLease } from './role-partition.ts';

/** A lease that knows its place in a partition. */
export class ManagedPartitionLease extends ManagedLease implements PartitionLease {
  readonly partition: number;

  constructor(partition: number, role: string, options: ManagedLeaseOptions, host: LeaseHost) {
    super(role, options, host);
    this.partition = partition;
    // Until the partition knows whether it takes part.
    this.restrain('observer');
  }
}
