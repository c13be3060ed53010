import { isLeaseholdError } from '@leasehold/core';
import { pass } from './decision.ts';
import type { AnyRequest, AnyResponse } from './http2.ts';
import {
  requireLeasehold,
  resolveProxyOptions,
  type ResolvedProxyOptions,
  resolveRole,
  type RoleHolderProxyOptions,
} from './options.ts';
import { type PartitionHolderProxyOptions, requirePartitions, resolveAffinity } from './partition-options.ts';
import { PartitionRoutes } from './partition-routes.ts';
import { InstalledProxy } from './proxy.ts';
import type { ConnectHandler, RoleHolderProxy } from './role-holder-proxy.ts';
import { RoleRoute, shareOptions } from './role-route.ts';
import type { PartitionLeasehold, ProxyLeasehold } from './target.ts';

/** A connect-style handler that carries its proxy, for upgrades and for closing. */
export interface RoleHolderHandler extends ConnectHandler {
  readonly proxy: RoleHolderProxy;
}

/**
 * Middleware that sends what is under the prefixes to the instance that holds the role, unless that is this one. Mount it
 * before everything that routes, parses or authenticates: on a non-holder nothing of the request may run.
 *
 * @example
 * ```ts
 * app.use(roleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/maintenance', '/streams'] }));
 * ```
 * @throws {LeaseholdError} LEASEHOLD_INVALID_PREFIX, LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_OPTION
 */
export function roleHolderProxy(leasehold: ProxyLeasehold, options: RoleHolderProxyOptions): RoleHolderHandler {
  return asHandler(createRoleHolderProxy(leasehold, options));
}

function asHandler(proxy: RoleHolderProxy): RoleHolderHandler {
  const handler: ConnectHandler = (request, response, next) => proxy.handle(request, response, next);
  return Object.assign(handler, { proxy });
}

/**
 * The same without a framework's shape, for adapters. Where the role is not registered, as in single-instance
 * development, the proxy lets everything pass, and says so in one line.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_PREFIX, LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_OPTION
 */
export function createRoleHolderProxy(leasehold: ProxyLeasehold, options: RoleHolderProxyOptions): RoleHolderProxy {
  requireLeasehold(leasehold);
  const role = resolveRole(options);
  const resolved = resolveProxyOptions(options);
  const lease = findRegistered(() => leasehold.get(role));
  if (lease === null) return passing('role', role, resolved);
  const shared = shareOptions(leasehold, resolved, lease.renewIntervalMs);
  return new InstalledProxy(role, new RoleRoute(lease, shared), shared);
}

/**
 * The partition form of {@link roleHolderProxy}: what is under the prefixes goes to the instance that holds the role of its
 * affinity key.
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
  return asHandler(createPartitionHolderProxy(leasehold, options));
}

/**
 * The same without a framework's shape, for adapters. Where the partition is not registered, everything passes.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_PREFIX, LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_OPTION
 */
export function createPartitionHolderProxy(leasehold: PartitionLeasehold, options: PartitionHolderProxyOptions): RoleHolderProxy {
  const affinity = resolveAffinity(options);
  requirePartitions(leasehold);
  const resolved = resolveProxyOptions(options);
  const partition = findRegistered(() => leasehold.getPartition(affinity.partition));
  if (partition === null) return passing('partition', affinity.partition, resolved);
  const shared = shareOptions(leasehold, resolved, USUAL_RENEW_INTERVAL_MS);
  return new InstalledProxy(affinity.partition, new PartitionRoutes(partition, affinity, shared), shared);
}

/** Of the roles of a partition none is known yet; how often streams are looked at is all that it says. */
const USUAL_RENEW_INTERVAL_MS = 5_000;

function findRegistered<T>(find: () => T): T | null {
  try {
    return find();
  } catch (error) {
    if (isLeaseholdError(error, 'LEASEHOLD_UNKNOWN_ROLE')) return null;
    throw error;
  }
}

/** A misspelt name would silently run everywhere: without a logger the process warning has to do. */
function passing(kind: 'role' | 'partition', name: string, { logger, hasLogger }: ResolvedProxyOptions): PassingProxy {
  const message = `The ${kind} '${name}' is not registered: the role-holder proxy is not installed, and every request runs on this instance.`;
  if (hasLogger) logger.warn({ [kind]: name }, message);
  else process.emitWarning(message, { type: 'LeaseholdWarning', code: 'LEASEHOLD_UNKNOWN_ROLE' });
  return new PassingProxy(name);
}

class PassingProxy implements RoleHolderProxy {
  readonly role: string;

  constructor(role: string) {
    this.role = role;
  }

  decide(): typeof pass {
    return pass;
  }

  apply(): false {
    return false;
  }

  handle(_request: AnyRequest, _response: AnyResponse, next: () => void): void {
    next();
  }

  handleUpgrade(): false {
    return false;
  }

  attachExpect(): () => void {
    return () => {};
  }

  close(): void {}

  cutEndless(): void {}
}
