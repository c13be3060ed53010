import type { ConnectHandler, ProxyLeasehold } from '@leasehold/proxy';
import { HolderGuard } from '@leasehold/proxy/adapter';
import { guardedBy } from './guarded-by.ts';

/**
 * Middleware for routes that may run on the holder alone and are not forwarded: on any other instance it answers 503 with
 * `Retry-After` and the problem body of the proxy (`reason: 'not-held'`).
 *
 * *Gotcha:* it asks once, before the handler. What runs longer asks again, or runs under `whileHeld`; what must not happen twice
 * is fenced.
 *
 * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE: a guard of a misspelt role would let everything through, or nothing.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when the Leasehold was forgotten.
 */
export function requireRole(leasehold: ProxyLeasehold, role: string): ConnectHandler {
  return guardedBy(new HolderGuard(leasehold, role));
}
