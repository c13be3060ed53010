import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RoleHolderProxy } from '@leasehold/proxy';

type Emit = (this: Server, event: string | symbol, ...values: unknown[]) => boolean;

/**
 * Lets the proxy see two things before anybody else, and keeps from the others what it has answered:
 *
 * - an upgrade, which a WebSocket plugin would answer as well, on the same socket;
 * - a request that comes while the application closes. Fastify answers it before any hook, and without `Retry-After`.
 *
 * Not by listeners. Node sends a request that asks for an upgrade to the routes like any other while nobody listens; the
 * first listener would take all of them away from the routes, those outside the prefixes too.
 */
export class ServerEvents {
  readonly #server: Server;
  readonly #proxy: RoleHolderProxy;
  readonly #inner: Emit;
  readonly #outer: Emit;
  readonly #upgrades = new Set<Duplex>();
  #state: 'open' | 'closing' | 'released' = 'open';

  constructor(server: Server, proxy: RoleHolderProxy) {
    // oxlint-disable-next-line typescript/unbound-method -- called with the server as `this`, below
    const inner = server.emit as Emit;
    const takes = this.#takes.bind(this);
    this.#server = server;
    this.#proxy = proxy;
    this.#inner = inner;
    this.#outer = function (event, ...values) {
      return takes(event, values) || inner.call(this, event, ...values);
    };
    server.emit = this.#outer as Server['emit'];
  }

  /**
   * From here on what is under the prefixes is refused, as this instance is about to go. Tunnels to holders never end by
   * themselves, and the server would wait for them: they are cut, so that their clients come back elsewhere.
   */
  beginClose(): void {
    this.#state = 'closing';
    for (const socket of this.#upgrades) socket.destroy();
  }

  /** Puts the server back as it was. Somebody else may have wrapped ours meanwhile; then it stays, and does nothing. */
  release(): void {
    this.#state = 'released';
    if (this.#server.emit === this.#outer) this.#server.emit = this.#inner as Server['emit'];
  }

  #takes(event: string | symbol, values: unknown[]): boolean {
    if (this.#state === 'released') return false;
    if (event === 'upgrade') return this.#takesUpgrade(...(values as [IncomingMessage, Duplex, Buffer]));
    if (event !== 'request' || this.#state !== 'closing') return false;
    return this.#refuse(...(values as [IncomingMessage, ServerResponse]));
  }

  #takesUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    if (!this.#proxy.handleUpgrade(request, socket, head)) return false;
    this.#upgrades.add(socket);
    socket.once('close', () => this.#upgrades.delete(socket));
    return true;
  }

  #refuse(request: IncomingMessage, response: ServerResponse): boolean {
    const decision = this.#proxy.decide(request);
    if (decision.kind !== 'refuse') return false;
    // Or the client keeps the connection, and with it this server, open.
    if (request.httpVersionMajor < 2) response.setHeader('connection', 'close');
    return this.#proxy.apply(decision, { request, response });
  }
}
