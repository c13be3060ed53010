import { type ConnectHandler, createRoleHolderProxy, type ProxyLeasehold, type RefuseDecision } from '@leasehold/proxy';

const NOT_HELD: RefuseDecision = { kind: 'refuse', reason: 'not-held' };

/**
 * Middleware for routes that may run on the holder alone and are not forwarded: on any other instance it answers 503 with
 * `Retry-After` and the problem body of the proxy (`reason: 'not-held'`).
 *
 * *Gotcha:* it asks once, before the handler. What runs longer asks again, or runs under `whileHeld`; what must not happen twice
 * is fenced.
 *
 * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE: a guard of a misspelt role would let everything through, or nothing.
 */
export function requireRole(leasehold: ProxyLeasehold, role: string): ConnectHandler {
  const lease = leasehold.get(role);
  // For its answers alone: it is never asked to decide, so its prefixes mean nothing.
  const proxy = createRoleHolderProxy(leasehold, { role, prefixes: ['/'] });
  return (request, response, next) => {
    if (lease.isHeld) next();
    else proxy.apply(NOT_HELD, { request, response });
  };
}
