import { Inject } from '@nestjs/common';
import type { PartitionName } from './partition-names.ts';
import type { RoleName } from './role-names.ts';

/** Provides the {@link Leasehold} of the application; what tests override. */
export const LEASEHOLD: unique symbol = Symbol('LEASEHOLD');

/** Provides the options that the Leasehold is made from. */
export const LEASEHOLD_SETTINGS: unique symbol = Symbol('LEASEHOLD_SETTINGS');

/** Provides the {@link RoleLease} of a role that `forRoot`, `forRootAsync` or `forFeature` names. */
export function getRoleLeaseToken(role: RoleName): string {
  return roleLeaseToken(role);
}

/** Inside, where the application's own names are not known. */
export function roleLeaseToken(role: string): string {
  return `leasehold:role-lease:${role}`;
}

/** Provides the {@link RolePartition} of a partition that `forRoot`, `forRootAsync` or `forFeature` declares. */
export function getRolePartitionToken(partition: PartitionName): string {
  return rolePartitionToken(partition);
}

export function rolePartitionToken(partition: string): string {
  return `leasehold:role-partition:${partition}`;
}

/** Injects the Leasehold: `constructor(@InjectLeasehold() leasehold: Leasehold)`. */
export function InjectLeasehold(): ParameterDecorator & PropertyDecorator {
  return Inject(LEASEHOLD);
}

/** Injects the lease of a role: `constructor(@InjectRoleLease('maintenance') lease: RoleLease)`. */
export function InjectRoleLease(role: RoleName): ParameterDecorator & PropertyDecorator {
  return Inject(getRoleLeaseToken(role));
}

/** Injects a partition: `constructor(@InjectRolePartition('devices') devices: RolePartition)`. */
export function InjectRolePartition(partition: PartitionName): ParameterDecorator & PropertyDecorator {
  return Inject(getRolePartitionToken(partition));
}
