/** A program of its own: an augmentation holds for a whole program, and the tests beside this one have other roles. */
import type { RoleLease, RolePartition } from '@leasehold/core';
import {
  getRoleLeaseToken,
  getRolePartitionToken,
  InjectRoleLease,
  InjectRolePartition,
  installPartitionHolderProxy,
  installRoleHolderProxy,
  LeaseholdModule,
  RequirePartition,
  RequireRole,
  WhileHeld,
} from '@leasehold/nestjs';
import type { INestApplication } from '@nestjs/common';

declare module '@leasehold/nestjs' {
  interface RegisteredRoles {
    maintenance: true;
    [partition: `devices:partition-${number}`]: true;
  }

  interface RegisteredPartitions {
    devices: true;
  }
}

declare const app: INestApplication;

export class Worker {
  @InjectRoleLease('maintenance') readonly right!: RoleLease;
  // @ts-expect-error -- misspelt
  @InjectRoleLease('maintenanc') readonly wrong!: RoleLease;

  @WhileHeld('devices:partition-7')
  async run(): Promise<void> {}

  // @ts-expect-error -- not a number
  @WhileHeld('devices:partition-x')
  async neverRun(): Promise<void> {}

  @RequireRole('maintenance')
  handle(): void {}

  // @ts-expect-error -- misspelt
  @RequireRole('maintenanc')
  neverHandle(): void {}
}

getRoleLeaseToken('maintenance');
// @ts-expect-error -- misspelt
getRoleLeaseToken('maintenanc');

LeaseholdModule.forRoot({ roles: ['maintenance', { name: 'devices:partition-0', maxHold: '1h' }] });
// @ts-expect-error -- misspelt
LeaseholdModule.forRoot({ roles: ['maintenanc'] });
// @ts-expect-error -- misspelt
LeaseholdModule.forFeature({ roles: [{ name: 'maintenanc' }] });
// @ts-expect-error -- misspelt
LeaseholdModule.forRootAsync({ useFactory: () => ({}), roles: ['maintenanc'] });

LeaseholdModule.forRoot({ proxy: [{ role: 'maintenance', prefixes: ['/maintenance'] }] });
// @ts-expect-error -- misspelt
LeaseholdModule.forRoot({ proxy: [{ role: 'maintenanc', prefixes: ['/maintenance'] }] });

installRoleHolderProxy(app, { role: 'maintenance', prefixes: ['/maintenance'] });
// @ts-expect-error -- misspelt
installRoleHolderProxy(app, { role: 'maintenanc', prefixes: ['/maintenance'] });

export class Devices {
  @InjectRolePartition('devices') readonly right!: RolePartition;
  // @ts-expect-error -- misspelt
  @InjectRolePartition('device') readonly wrong!: RolePartition;

  @WhileHeld('devices', (id: string) => id)
  async poll(id: string): Promise<void> {
    void id;
  }

  // @ts-expect-error -- misspelt
  @WhileHeld('device', (id: string) => id)
  async neverPoll(id: string): Promise<void> {
    void id;
  }

  // @ts-expect-error -- a partition without a key is no role
  @WhileHeld('devices')
  async keyless(): Promise<void> {}

  @RequirePartition('devices', () => 'key')
  handle(): void {}

  // @ts-expect-error -- misspelt
  @RequirePartition('device', () => 'key')
  neverHandle(): void {}
}

getRolePartitionToken('devices');
// @ts-expect-error -- misspelt
getRolePartitionToken('device');

LeaseholdModule.forRoot({ partitions: { devices: { count: 16 } } });
// @ts-expect-error -- misspelt
LeaseholdModule.forRoot({ partitions: { device: { count: 16 } } });
// @ts-expect-error -- misspelt
LeaseholdModule.forFeature({ partitions: { device: { count: 16 } } });

installPartitionHolderProxy(app, { partition: 'devices', affinityKey: () => 'key', prefixes: ['/devices'] });
// @ts-expect-error -- misspelt
installPartitionHolderProxy(app, { partition: 'device', affinityKey: () => 'key', prefixes: ['/devices'] });
