import {
  partitionHolderProxy as createHandler,
  type PartitionHolderProxyOptions,
  type PartitionLeasehold,
  type RoleHolderHandler,
} from '@leasehold/proxy';
import { rememberProxy } from './proxies.ts';

/**
 * The partition form of `roleHolderProxy`: what is under the prefixes goes to the instance that holds the role of its affinity
 * key. A request without a key is answered with 400. All else is as with `roleHolderProxy`.
 *
 * *Gotcha:* under a mount path Express has cut that path off `request.url`; the whole is in `request.originalUrl`.
 *
 * @example
 * ```ts
 * app.use(partitionHolderProxy(leasehold, {
 *   partition: 'devices', affinityKey: (request) => request.headers['x-device-id'], prefixes: ['/device-api'],
 * }));
 * ```
 * @throws {LeaseholdError} LEASEHOLD_INVALID_PREFIX, LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_OPTION
 */
export function partitionHolderProxy(leasehold: PartitionLeasehold, options: PartitionHolderProxyOptions): RoleHolderHandler {
  const handler = createHandler(leasehold, options);
  rememberProxy(leasehold, handler.proxy);
  return handler;
}
