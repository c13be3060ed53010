import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { systemClock } from '@leasehold/core';

/** How long a client may keep the connection open after the answer. */
const LINGER_MS = 3_000;

/** Bytes that are kept for the holder until it has switched protocols. A client that sends more has to wait. */
const EARLY_LIMIT = 65_536;

/**
 * A client that asks for another protocol. Node hands its socket over and looks after it no more: without an answer the
 * client would see a silent end, without a listener its reset would end the process, and without a limit a client that
 * never closes would keep the socket.
 */
export class UpgradingClient {
  readonly socket: Duplex;
  /**
   * Answers on the socket while it still speaks HTTP, with Node's own framing, as for any other request. The connection
   * ends with the answer, since nobody parses another request.
   */
  readonly response: ServerResponse;
  /** What to offer the holder; null for what may not become a tunnel, and is a request like any other. */
  readonly protocols: string | null;
  readonly #early: Buffer[];
  #earlySize: number;

  /**
   * Null for a client that asked before it had its answer to an earlier request of the connection. Node still has to send that
   * one and would mix both, and it throws at the second response: the connection ends.
   */
  static take(request: IncomingMessage, socket: Duplex, head: Buffer): UpgradingClient | null {
    try {
      return new UpgradingClient(request, socket, head);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_HTTP_SOCKET_ASSIGNED') throw error;
      socket.on('error', ignore).destroy();
      return null;
    }
  }

  private constructor(request: IncomingMessage, socket: Duplex, head: Buffer) {
    this.socket = socket;
    this.protocols = protocolsOf(request);
    this.#early = [head];
    this.#earlySize = head.length;
    this.response = new ServerResponse(request);
    this.response.shouldKeepAlive = false;
    this.response.assignSocket(socket as Socket);
    this.response.once('finish', this.#onAnswered);
    socket.on('error', ignore);
    socket.on('drain', this.#onDrain);
    socket.on('data', this.#onEarly);
    socket.on('end', this.#onLeft);
  }

  /** The socket is the tunnel's from here on. What the client sent too early comes first. */
  switchProtocol(): Buffer {
    this.response.detachSocket(this.socket as Socket);
    this.#stopReading();
    return Buffer.concat(this.#early);
  }

  #stopReading(): void {
    this.socket.off('drain', this.#onDrain);
    this.socket.off('data', this.#onEarly);
    this.socket.off('end', this.#onLeft);
  }

  /** As Node's server does where it looks after the socket itself. */
  readonly #onDrain = (): void => void this.response.emit('drain');

  readonly #onEarly = (chunk: Buffer): void => {
    this.#early.push(chunk);
    this.#earlySize += chunk.length;
    if (this.#earlySize > EARLY_LIMIT) this.socket.pause();
  };

  /** Node's server takes the end of what a client sends for its leaving, too. */
  readonly #onLeft = (): void => {
    if (!this.response.writableEnded) this.socket.destroy();
  };

  readonly #onAnswered = (): void => {
    this.response.detachSocket(this.socket as Socket);
    this.#stopReading();
    this.#early.length = 0;
    closeGently(this.socket);
    this.response.emit('close');
  };
}

/** Ends a connection after what was written, which a client that still sends would lose at a reset. */
export function closeGently(socket: Duplex): void {
  socket.resume();
  socket.end(() => {
    const timer = systemClock.setTimer(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => timer.cancel());
  });
}

/** HTTP/2 would bring all requests of a connection past this instance's decisions; HTTP/1.0 knows no upgrade. */
function protocolsOf(request: IncomingMessage): string | null {
  if (request.httpVersion === '1.0') return null;
  const offered = (request.headers.upgrade ?? '').split(',').map((protocol) => protocol.trim());
  const allowed = offered.filter((protocol) => protocol !== '' && !/^h2c?$/i.test(protocol));
  return allowed.length === 0 ? null : allowed.join(', ');
}

function ignore(): void {}
