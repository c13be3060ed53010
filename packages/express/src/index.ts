export type { Advertise, ConnectHandler, RoleHolderHandler, RoleHolderProxyOptions } from '@leasehold/proxy';
export { leaseholdLifecycle, type LeaseholdLifecycle } from './lifecycle.ts';
export type { LeaseholdLifecycleOptions } from './lifecycle-options.ts';
export { requireRole } from './require-role.ts';
export { roleHolderProxy } from './role-holder-proxy.ts';
