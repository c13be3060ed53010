import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

type Emit = (this: object, event: string | symbol, ...values: unknown[]) => boolean;

/** What comes to a server, before the application sees it. Each answers true when it took it, and nobody else may. */
export interface ServerEventHandlers {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  request(request: IncomingMessage, response: ServerResponse): boolean;
}

/**
 * Lets the handlers see upgrades and requests before every listener, whenever that was added, and adds none itself. Node
 * sends a request that asks for an upgrade to the routes like any other while nobody listens for upgrades: the first listener
 * would take all of them away from the routes. And among several listeners each one is told, so that a WebSocket server would
 * answer as well, on the same socket.
 *
 * The function that it returns puts the server back as it was. Somebody else may have wrapped ours meanwhile; then ours stays,
 * and does nothing.
 */
export function interceptEvents(server: Pick<Server, 'emit'>, handlers: ServerEventHandlers): () => void {
  // oxlint-disable-next-line typescript/unbound-method -- called with the server as `this`, below
  const inner = server.emit as Emit;
  let isReleased = false;
  const outer: Emit = function (event, ...values) {
    return (!isReleased && takes(handlers, event, values)) || inner.call(this, event, ...values);
  };
  server.emit = outer as Server['emit'];
  return () => {
    isReleased = true;
    if (server.emit === outer) server.emit = inner as Server['emit'];
  };
}

function takes(handlers: ServerEventHandlers, event: string | symbol, values: unknown[]): boolean {
  if (event === 'request') return handlers.request(...(values as [IncomingMessage, ServerResponse]));
  if (event === 'upgrade') return handlers.upgrade(...(values as [IncomingMessage, Duplex, Buffer]));
  return false;
}
