import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RoleHolderProxy } from '@leasehold/proxy';

type Emit = (this: Server, event: string | symbol, ...values: unknown[]) => boolean;

/**
 * Lets the proxy see each upgrade before the server's own listeners (WebSocket plugins), and keeps from them what it has
 * answered: two would write to one socket.
 *
 * Not a listener itself. Node sends a request that asks for an upgrade to the routes like any other while nobody listens;
 * the first listener would take all of them away from the routes, those outside the prefixes too.
 *
 * @returns a function that undoes it.
 */
export function interceptUpgrades(server: Server, proxy: RoleHolderProxy): () => void {
  // oxlint-disable-next-line typescript/unbound-method -- called with the server as `this`, below
  const inner = server.emit as Emit;
  let active = true;
  const emit: Emit = function (event, ...values) {
    if (active && event === 'upgrade' && proxy.handleUpgrade(...(values as [IncomingMessage, Duplex, Buffer]))) return true;
    return inner.call(this, event, ...values);
  };
  server.emit = emit as Server['emit'];
  return () => {
    active = false;
    // Somebody else may have wrapped ours meanwhile; then it stays, and does nothing.
    if (server.emit === emit) server.emit = inner as Server['emit'];
  };
}
