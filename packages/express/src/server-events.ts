import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

type Emit = (this: Server, event: string | symbol, ...values: unknown[]) => boolean;

export interface ServerEventHandlers {
  /** True when it answered, and nobody else may. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Sees each request before the application does. */
  request(response: ServerResponse): void;
}

/**
 * Sees upgrades and requests before every listener, and adds none itself. Node sends a request that asks for an upgrade to
 * the routes like any other while nobody listens for upgrades: the first listener would take all of them away from the
 * routes. And among several listeners each one is told, so that a WebSocket server would answer as well, on the same socket.
 */
export class ServerEvents {
  readonly #server: Server;
  readonly #inner: Emit;
  readonly #outer: Emit;
  #handlers: ServerEventHandlers | null;

  constructor(server: Server, handlers: ServerEventHandlers) {
    // oxlint-disable-next-line typescript/unbound-method -- called with the server as `this`, below
    const inner = server.emit as Emit;
    const takes = this.#takes.bind(this);
    this.#server = server;
    this.#handlers = handlers;
    this.#inner = inner;
    this.#outer = function (event, ...values) {
      return takes(event, values) || inner.call(this, event, ...values);
    };
    server.emit = this.#outer as Server['emit'];
  }

  #takes(event: string | symbol, values: unknown[]): boolean {
    if (event === 'request') this.#handlers?.request(values[1] as ServerResponse);
    if (event !== 'upgrade' || this.#handlers === null) return false;
    return this.#handlers.upgrade(...(values as [IncomingMessage, Duplex, Buffer]));
  }

  /** Puts the server back as it was. Somebody else may have wrapped ours meanwhile; then it stays, and does nothing. */
  release(): void {
    this.#handlers = null;
    if (this.#server.emit === this.#outer) this.#server.emit = this.#inner as Server['emit'];
  }
}
