import type { PartitionOptions } from '@leasehold/core';
import type { RoleNameOf } from './role-names.ts';

/**
 * Augment it with the partitions of an application, and a misspelt name does not compile any more, as with `RegisteredRoles`:
 *
 * ```ts
 * declare module '@leasehold/nestjs' {
 *   interface RegisteredPartitions {
 *     devices: true;
 *   }
 * }
 * InjectRolePartition('device'); // error
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

export interface KeyScope {
  /** Keeps keys of different kinds apart, such as orders and customers of the same number. @default keys have no scope */
  readonly scope?: string;
}
