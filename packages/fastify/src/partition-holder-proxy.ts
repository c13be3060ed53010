import {
  createPartitionHolderProxy,
  type PartitionHolderProxyOptions,
  type PartitionLeasehold,
  type ThisInstance,
} from '@leasehold/proxy';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import fp from 'fastify-plugin';
import { installProxy, requireLeasehold } from './install-proxy.ts';
import type { PartitionName } from './partition-names.ts';
import { withoutRegister } from './register-options.ts';

export interface PartitionHolderProxyPluginOptions extends PartitionHolderProxyOptions {
  readonly partition: PartitionName;
  /** What has the partition. @default that of `roleLeasePlugin`: `app.leasehold` */
  readonly leasehold?: PartitionLeasehold;
}

/**
 * The partition form of `roleHolderProxy`: what is under the prefixes goes to the instance that holds the role of its affinity
 * key. A request without a key is answered with 400. All else is as with `roleHolderProxy`.
 *
 * ```ts
 * app.register(partitionHolderProxy, {
 *   partition: 'devices', affinityKey: (request) => request.headers['x-device-id'], prefixes: ['/device-api'],
 * });
 * ```
 *
 * `app.ready()` rejects with what `createPartitionHolderProxy` of `@leasehold/proxy` throws at an option.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION from `app.ready()` when there is no Leasehold, or one without partitions.
 */
export const partitionHolderProxy: FastifyPluginAsync<PartitionHolderProxyPluginOptions> = fp(registerPartitionHolderProxy, {
  name: '@leasehold/fastify/partition-holder-proxy',
  fastify: '5.x',
});

async function registerPartitionHolderProxy(app: FastifyInstance, options: PartitionHolderProxyPluginOptions): Promise<void> {
  const { leasehold: given, ...others } = withoutRegister(options);
  const leasehold: ThisInstance = requireLeasehold(app, given, 'partitionHolderProxy');
  // Whether it has partitions is asked there.
  installProxy(app, createPartitionHolderProxy(leasehold as PartitionLeasehold, { logger: app.log, ...others }));
}
