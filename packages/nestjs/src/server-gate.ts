import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { LocalFields, RoleHolderProxy } from '@leasehold/proxy';
import { interceptEvents } from '@leasehold/proxy/adapter';
import type { Closing } from './lifecycle.ts';

/**
 * Lets the proxy see each request and each upgrade before anything else on the server does: before body parsers, middleware,
 * guards and WebSocket gateways, whatever the platform and whenever they were added.
 */
export class ServerGate implements Closing {
  readonly #proxy: RoleHolderProxy;

  constructor(server: Server, proxy: RoleHolderProxy) {
    this.#proxy = proxy;
    interceptEvents(server, {
      upgrade: (request, socket, head) => proxy.handleUpgrade(request, socket, head),
      request: (request, response) => this.takesRequest(request, response),
    });
  }

  /** From here on what is under the prefixes is refused. What never ends by itself is cut: it would keep the server open. */
  beginClose(): void {
    this.#proxy.close();
    this.#proxy.cutEndless();
  }

  /** Answers, unless the request is for this instance. */
  takesRequest(request: IncomingMessage, response: ServerResponse, headers: LocalFields = {}): boolean {
    return this.#proxy.apply(this.#proxy.decide(request), { request, response, headers });
  }
}
