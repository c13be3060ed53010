import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLeaseholdError } from '@leasehold/core';
import { pass } from './decision.ts';
import { resolveProxyOptions, type ResolvedProxyOptions, type RoleHolderProxyOptions } from './options.ts';
import { InstalledProxy } from './proxy.ts';
import type { ConnectHandler, RoleHolderProxy } from './role-holder-proxy.ts';
import type { ProxyLeasehold, RoleLeaseView } from './target.ts';

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
  const proxy = createRoleHolderProxy(leasehold, options);
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
  const resolved = resolveProxyOptions(options);
  const lease = findLease(leasehold, resolved.role);
  if (lease !== null) return new InstalledProxy(leasehold, lease, resolved);
  sayNotInstalled(resolved);
  return new PassingProxy(resolved.role);
}

function findLease(leasehold: ProxyLeasehold, role: string): RoleLeaseView | null {
  try {
    return leasehold.get(role);
  } catch (error) {
    if (isLeaseholdError(error, 'LEASEHOLD_UNKNOWN_ROLE')) return null;
    throw error;
  }
}

/** A misspelt role would silently run everywhere: without a logger the process warning has to do. */
function sayNotInstalled({ role, logger, hasLogger }: ResolvedProxyOptions): void {
  const message = `The role '${role}' is not registered: the role-holder proxy is not installed, and every request runs on this instance.`;
  if (hasLogger) logger.warn({ role }, message);
  else process.emitWarning(message, { type: 'LeaseholdWarning', code: 'LEASEHOLD_UNKNOWN_ROLE' });
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

  handle(_request: IncomingMessage, _response: ServerResponse, next: () => void): void {
    next();
  }

  handleUpgrade(): false {
    return false;
  }

  attachExpect(): () => void {
    return () => {};
  }

  close(): void {}
}
