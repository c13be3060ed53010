import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { LocalFields, RoleHolderProxy } from '@leasehold/proxy';
import { interceptEvents } from '@leasehold/proxy/adapter';
import type { Closing } from './lifecycle.ts';

/**
 * Lets the proxy see each request and each upgrade before anything else on the server does: before body parsers, middleware,
 * guards and WebSocket gateways, whatever the platform and whenever they were added.
 */
export class ServerGate implements Closing {
  readonly #proxy: RoleHolderProxy;
  /** What never ends by itself: event streams and tunnels that run through this instance. */
  readonly #endless = new Set<ServerResponse | Duplex>();

  constructor(server: Server, proxy: RoleHolderProxy) {
    this.#proxy = proxy;
    interceptEvents(server, {
      upgrade: (...upgrade) => this.#takesUpgrade(...upgrade),
      request: (request, response) => this.takesRequest(request, response),
    });
  }

  /** From here on what is under the prefixes is refused. What never ends by itself is cut: it would keep the server open. */
  beginClose(): void {
    this.#proxy.close();
    for (const connection of this.#endless) connection.destroy();
  }

  /** Answers, unless the request is for this instance. */
  takesRequest(request: IncomingMessage, response: ServerResponse, headers: LocalFields = {}): boolean {
    const decision = this.#proxy.decide(request);
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
}
