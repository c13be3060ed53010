import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { LocalFields, RoleHolderProxy } from '@leasehold/proxy';
import type { Closing } from './lifecycle.ts';

type Emit = (this: Server, event: string | symbol, ...values: unknown[]) => boolean;

/**
 * Lets the proxy see each request and each upgrade before anything else on the server does: before body parsers, middleware,
 * guards and WebSocket gateways, whatever the platform and whenever they were added.
 *
 * Not by listeners: they would run beside those of the platform, and the first one for `upgrade` would take upgrades outside
 * the prefixes away from its routes.
 */
export class ServerGate implements Closing {
  readonly #proxy: RoleHolderProxy;
  /** What never ends by itself: event streams and tunnels that run through this instance. */
  readonly #endless = new Set<ServerResponse | Duplex>();
  #closing = false;

  constructor(server: Server, proxy: RoleHolderProxy) {
    this.#proxy = proxy;
    // oxlint-disable-next-line typescript/unbound-method -- called with the server as `this`, below
    const inner = server.emit as Emit;
    const takes = this.#takes.bind(this);
    server.emit = function (this: Server, event: string | symbol, ...values: unknown[]) {
      return takes(event, values) || inner.call(this, event, ...values);
    } as Server['emit'];
  }

  /** From here on what is under the prefixes is refused. What never ends by itself is cut: it would keep the server open. */
  beginClose(): void {
    this.#closing = true;
    this.#proxy.close();
    for (const connection of this.#endless) connection.destroy();
  }

  /** Answers, unless the request is for this instance. */
  takesRequest(request: IncomingMessage, response: ServerResponse, headers: LocalFields = {}): boolean {
    const decision = this.#proxy.decide(request);
    // Or the client keeps the connection, and with it this server, open.
    if (this.#closing && decision.kind !== 'pass' && request.httpVersionMajor < 2) response.setHeader('connection', 'close');
    if (decision.kind === 'forward') this.#noteEventStream(request, response);
    return this.#proxy.apply(decision, { request, response, headers });
  }

  /** `EventSource` asks for nothing else; a client that would take an event stream among other things is left to end by itself. */
  #noteEventStream(request: IncomingMessage, response: ServerResponse): void {
    if (/^text\/event-stream\b/i.test(request.headers.accept ?? '')) this.#noteEndless(response);
  }

  #noteEndless(connection: ServerResponse | Duplex): void {
    this.#endless.add(connection);
    connection.once('close', () => this.#endless.delete(connection));
  }

  #takesUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    if (!this.#proxy.handleUpgrade(request, socket, head)) return false;
    this.#noteEndless(socket);
    return true;
  }

  #takes(event: string | symbol, values: unknown[]): boolean {
    if (event === 'request') return this.takesRequest(...(values as [IncomingMessage, ServerResponse]));
    if (event === 'upgrade') return this.#takesUpgrade(...(values as [IncomingMessage, Duplex, Buffer]));
    return false;
  }
}
