import type { PartitionOptions, RolePartition } from '@leasehold/core';
import type { RoleNameOf } from './role-names.ts';

/**
 * Augment it with the partitions of an application, and a misspelt name does not compile any more, as with `RegisteredRoles`:
 *
 * ```ts
 * declare module '@leasehold/fastify' {
 *   interface RegisteredPartitions {
 *     devices: true;
 *   }
 * }
 * app.rolePartitions.get('device'); // error
 * ```
 *
 * While it is empty, every string is the name of a partition.
 */
// oxlint-disable-next-line typescript/no-empty-interface -- augmented by users, which an alias cannot be
export interface RegisteredPartitions {}

/** The name of a partition of this application; see {@link RegisteredPartitions}. */
export type PartitionName = RoleNameOf<RegisteredPartitions>;

/** Partitions with their options, by name: `{ devices: { count: 64, balance: 'fair' } }`. */
export type NamedPartitions = { readonly [Name in PartitionName]?: PartitionOptions };

/** Every partition of the application, as `app.rolePartitions`. */
export interface RolePartitions {
  has(name: PartitionName): boolean;
  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE */
  get(name: PartitionName): RolePartition;
}
