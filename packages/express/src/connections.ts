import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '@leasehold/core';
import { isEventStream } from '@leasehold/proxy/adapter';

/**
 * - `draining`: no new connections; requests in flight go on, and ask their clients to close the connection.
 * - `leaving`: the roles are given back, so what never ends by itself is cut.
 * - `gone`: every connection was destroyed.
 */
type Phase = 'open' | 'draining' | 'leaving' | 'gone';

/**
 * The connections of one server, so that it can be closed in bounded time. Node's own `close()` waits for ever: for event
 * streams, for upgraded connections, and for a browser's connection that never sent a request. After an answer that was
 * under way it waits for the whole keep-alive timeout.
 */
export class Connections {
  readonly #server: Server;
  /** As they were accepted: under TLS not those that requests see. */
  readonly #accepted = new Set<Socket>();
  /** By connection, since not every version of Node tells a pipelined response that its connection is gone. */
  readonly #inFlight = new Map<Socket, Set<ServerResponse>>();
  /** Those that close after an answer that is under way. */
  readonly #ending = new WeakSet<Socket>();
  #phase: Phase = 'open';

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', this.#onConnection);
  }

  /**
   * True for a request behind an answer that closes the connection: nobody could be told what became of it, and its client
   * sends it again elsewhere. Otherwise it only looks on.
   */
  begin(response: ServerResponse): boolean {
    const { socket } = response.req;
    if (this.#ending.has(socket)) return true;
    this.#on(socket).add(response);
    response.once('close', () => this.#ended(socket, response));
    if (this.#phase !== 'open') this.#askToClose(response);
    return false;
  }

  /** Stops accepting. Resolves when the last connection is closed: after `timeoutMs` by force. */
  async close(timeoutMs: number): Promise<void> {
    this.#phase = 'draining';
    // The last of each connection: those that wait in front of it (pipelining) would take its turn away.
    for (const responses of this.#inFlight.values()) this.#askToClose([...responses].at(-1));
    const limit = systemClock.setTimer(this.#destroyAll, timeoutMs);
    await this.#serverClosed();
    limit.cancel();
    this.#server.off('connection', this.#onConnection);
  }

  /** From here on event streams are cut and, once no request is in flight, every connection that is left: upgraded ones, too. */
  leave(): void {
    if (this.#phase !== 'gone') this.#phase = 'leaving';
    for (const response of this.#responses()) if (isStream(response)) response.destroy();
    this.#endWhenQuiet();
  }

  #on(socket: Socket): Set<ServerResponse> {
    let inFlight = this.#inFlight.get(socket);
    if (inFlight !== undefined) return inFlight;
    this.#inFlight.set(socket, (inFlight = new Set()));
    socket.once('close', () => {
      this.#inFlight.delete(socket);
      this.#endWhenQuiet();
    });
    return inFlight;
  }

  /** Or the client keeps the connection for its next request, which nobody would answer. */
  #askToClose(response: ServerResponse | undefined): void {
    if (response === undefined || response.headersSent) return;
    response.setHeader('connection', 'close');
    this.#ending.add(response.req.socket);
  }

  #responses(): ServerResponse[] {
    return [...this.#inFlight.values()].flatMap((responses) => [...responses]);
  }

  #ended(socket: Socket, response: ServerResponse): void {
    this.#inFlight.get(socket)?.delete(response);
    this.#endWhenQuiet();
  }

  #endWhenQuiet(): void {
    if (this.#phase === 'leaving' && this.#responses().length === 0) this.#destroyAll();
  }

  #serverClosed(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  readonly #destroyAll = (): void => {
    if (this.#phase === 'gone') return;
    this.#phase = 'gone';
    // First, while each has its socket: it throws at a connection whose TLS was torn down from below. It does not know of
    // upgraded connections and of handshakes; the other list does not know of what came before this object did.
    this.#server.closeAllConnections();
    for (const socket of this.#accepted) socket.destroy();
  };

  readonly #onConnection = (socket: Socket): void => {
    this.#accepted.add(socket);
    socket.once('close', () => this.#accepted.delete(socket));
  };
}

function isStream(response: ServerResponse): boolean {
  return isEventStream(response.req.headers.accept, response.getHeader('content-type') ?? typeInHead(response));
}

/** What is given to `writeHead()` alone is in no other place; `morgan` and `finalhandler` look there, too. */
function typeInHead(response: ServerResponse): string | undefined {
  const { _header: head } = response as { readonly _header?: unknown };
  return typeof head === 'string' ? /^content-type: *(.*)$/im.exec(head)?.[1] : undefined;
}
