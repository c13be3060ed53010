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
export { RequireRole, RoleNotHeldException } from './require-role.ts';
export type { RegisteredRoles, RoleName, RoleNameOf } from './role-names.ts';
export { getRoleLeaseToken, InjectLeasehold, InjectRoleLease, LEASEHOLD } from './tokens.ts';
export { currentTerm, WhileHeld, type WhileHeldDecorator } from './while-held.ts';
