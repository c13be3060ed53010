export { type LeaseholdHealth, LeaseholdHealthIndicator } from './health-indicator.ts';
export {
  installPartitionHolderProxy,
  type InstallPartitionHolderProxyOptions,
  installRoleHolderProxy,
  type InstallRoleHolderProxyOptions,
} from './install-role-holder-proxy.ts';
export { LeaseholdModule } from './leasehold-module.ts';
export type {
  GivenLeaseholdSettings,
  LeaseholdFeatureOptions,
  LeaseholdModuleAsyncOptions,
  LeaseholdModuleOptions,
  LeaseholdSettings,
  NamedRole,
  OwnLeaseholdSettings,
} from './module-options.ts';
export type { KeyScope, NamedPartitions, PartitionName, RegisteredPartitions } from './partition-names.ts';
export { AffinityKeyException, RoleNotHeldException } from './refused.ts';
export { RequirePartition } from './require-partition.ts';
export { RequireRole } from './require-role.ts';
export type { RegisteredRoles, RoleName, RoleNameOf } from './role-names.ts';
export {
  getRoleLeaseToken,
  getRolePartitionToken,
  InjectLeasehold,
  InjectRoleLease,
  InjectRolePartition,
  LEASEHOLD,
} from './tokens.ts';
export { currentTerm, WhileHeld, type WhileHeldDecorator, type WhileHeldOfKeyDecorator } from './while-held.ts';
