export type { NamedPartitions, PartitionName, RegisteredPartitions, RolePartitions } from './partition-names.ts';
export { partitionHolderProxy, type PartitionHolderProxyPluginOptions } from './partition-holder-proxy.ts';
export { roleHolderProxy, type RoleHolderProxyPluginOptions } from './role-holder-proxy.ts';
export type { GivenLeaseholdOptions, NamedRole, OwnLeaseholdOptions, RoleLeasePluginOptions } from './role-lease-options.ts';
export { roleLeasePlugin } from './role-lease-plugin.ts';
export type { RegisteredRoles, RoleLeases, RoleName, RoleNameOf } from './role-names.ts';
export type { RoleGuardHook } from './route-guard.ts';
