import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { LeaseholdError } from '@leasehold/core';
import type { RoleHolderProxy } from './role-holder-proxy.ts';

/** See {@link RoleHolderProxy.attachExpect}. */
export function attachExpect(server: Server, proxy: RoleHolderProxy): () => void {
  if (server.listenerCount('checkContinue') > 0) {
    throw new LeaseholdError(
      'LEASEHOLD_INVALID_OPTION',
      "server has a 'checkContinue' listener already, and two would answer twice; call decide() and apply() from that one.",
      { option: 'server' },
    );
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const decision = proxy.decide(request);
    if (decision.kind === 'refuse' || (decision.kind === 'forward' && isAscii(request.rawHeaders))) {
      proxy.apply(decision, { request, response, awaitsContinue: true });
      return;
    }
    // What Node does where nobody listens.
    response.writeContinue();
    server.emit('request', request, response);
  };
  server.on('checkContinue', listener);
  return () => void server.off('checkContinue', listener);
}

/** Node sends a head with `Expect` at once, and as UTF-8: other bytes would change. */
function isAscii(fields: readonly string[]): boolean {
  return fields.every((text) => /^[\t\x20-\x7e]*$/.test(text));
}
