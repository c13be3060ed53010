import {
  type ProxyLeasehold,
  roleHolderProxy as createHandler,
  type RoleHolderHandler,
  type RoleHolderProxyOptions,
} from '@leasehold/proxy';
import { rememberProxy } from './proxies.ts';

/**
 * Middleware that sends what is under the prefixes to the instance that holds the role, unless that is this one: before
 * parsing, authentication and handlers, for unknown routes too. Mount one for each role.
 *
 * - Mount it before every body parser. A parser that has read the body leaves nothing to forward: such a request is answered
 *   with 500, and the log says so once.
 * - What earlier middleware has set on the response (CORS) is on the answer; where the holder sets the same, the holder's wins.
 * - The prefixes are compared with the path as the client sent it, wherever the middleware or its router is mounted.
 *
 * *Gotcha:* mounted under a path (`app.use('/api', …)`) it sees the requests to that path alone, and its prefixes still begin
 * with it: `prefixes: ['/api/maintenance']`.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_PREFIX, LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_OPTION
 */
export function roleHolderProxy(leasehold: ProxyLeasehold, options: RoleHolderProxyOptions): RoleHolderHandler {
  const handler = createHandler(leasehold, options);
  rememberProxy(leasehold, handler.proxy);
  return handler;
}
