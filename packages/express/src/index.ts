export type {
  Advertise,
  AffinityKey,
  ConnectHandler,
  PartitionHolderProxyOptions,
  RoleHolderHandler,
  RoleHolderProxyOptions,
} from '@leasehold/proxy';
export { leaseholdLifecycle, type LeaseholdLifecycle } from './lifecycle.ts';
export type { LeaseholdLifecycleOptions } from './lifecycle-options.ts';
export { partitionHolderProxy } from './partition-holder-proxy.ts';
export { requirePartition, type RequirePartitionOptions } from './require-partition.ts';
export { requireRole } from './require-role.ts';
export { roleHolderProxy } from './role-holder-proxy.ts';
