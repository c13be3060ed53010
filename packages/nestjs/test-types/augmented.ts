/** A program of its own: an augmentation holds for a whole program, and the tests beside this one have other roles. */
import type { RoleLease } from '@leasehold/core';
import {
  getRoleLeaseToken,
  InjectRoleLease,
  installRoleHolderProxy,
  LeaseholdModule,
  RequireRole,
  WhileHeld,
} from '@leasehold/nestjs';
import type { INestApplication } from '@nestjs/common';

declare module '@leasehold/nestjs' {
  interface RegisteredRoles {
    maintenance: true;
    [partition: `devices:partition-${number}`]: true;
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
