import { LeaseholdError } from '@leasehold/core';
import {
  createPartitionHolderProxy,
  createRoleHolderProxy,
  type PartitionHolderProxyOptions,
  type PartitionLeasehold,
  type RoleHolderProxyOptions,
} from '@leasehold/proxy';
import type { INestApplication } from '@nestjs/common';
import { attachProxy } from './attach-proxy.ts';
import { Lifecycle } from './lifecycle.ts';
import type { PartitionName } from './partition-names.ts';
import type { RoleName } from './role-names.ts';

export interface InstallRoleHolderProxyOptions extends RoleHolderProxyOptions {
  readonly role: RoleName;
}

export interface InstallPartitionHolderProxyOptions extends PartitionHolderProxyOptions {
  readonly partition: PartitionName;
  /** Tells which role a key belongs to, and who holds it. @default that of the module, whose option `partitions` declares it */
  readonly leasehold?: PartitionLeasehold;
}

/**
 * Sends what is under the prefixes to the instance that holds the role, unless that is this one: before body parsers,
 * middleware, guards and handlers, on both platforms and wherever it stands before `app.listen()`. May be called once for
 * each role. The option `proxy` of `LeaseholdModule` does the same.
 *
 * - The prefixes are compared with the path as the client sent it: a global prefix is part of it.
 * - Nothing of the application runs before it, CORS neither: the holder's fields are on the answer.
 * - When the application closes, event streams that run through it are cut, so that their clients come back elsewhere.
 *
 * @throws {LeaseholdError} LEASEHOLD_NOT_REGISTERED when there is no `LeaseholdModule`.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when the server listens already.
 * @throws {LeaseholdError} what `createRoleHolderProxy` of `@leasehold/proxy` throws at an option.
 */
export function installRoleHolderProxy(app: INestApplication, options: InstallRoleHolderProxyOptions): void {
  const lifecycle = findLifecycle(app);
  const { leasehold, logger } = lifecycle;
  attachProxy(app.getHttpAdapter(), lifecycle, () => createRoleHolderProxy(leasehold, { logger, ...options }));
}

/**
 * The partition form of {@link installRoleHolderProxy}: what is under the prefixes goes to the instance that holds the role
 * of its affinity key.
 *
 * @throws {LeaseholdError} as `installRoleHolderProxy`, and what `createPartitionHolderProxy` of `@leasehold/proxy` throws.
 */
export function installPartitionHolderProxy(app: INestApplication, options: InstallPartitionHolderProxyOptions): void {
  const lifecycle = findLifecycle(app);
  const { leasehold = lifecycle.leasehold, ...others } = options;
  requirePartitions(leasehold);
  const withLogger = { logger: lifecycle.logger, ...others };
  attachProxy(app.getHttpAdapter(), lifecycle, () => createPartitionHolderProxy(leasehold, withLogger));
}

function findLifecycle(app: INestApplication): Lifecycle {
  try {
    return app.get(Lifecycle, { strict: false });
  } catch (cause) {
    throw new LeaseholdError(
      'LEASEHOLD_NOT_REGISTERED',
      'app has no Leasehold; import LeaseholdModule.forRoot(…) in its root module.',
      { option: 'app', cause },
    );
  }
}

function requirePartitions(leasehold: Partial<PartitionLeasehold> | null | undefined): void {
  if (typeof leasehold?.getPartition === 'function') return;
  throw new LeaseholdError(
    'LEASEHOLD_INVALID_OPTION',
    'leasehold has no getPartition(); give an object that tells which role a key belongs to.',
    { option: 'leasehold' },
  );
}
