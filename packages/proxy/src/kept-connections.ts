import type { ClientRequest, IncomingMessage } from 'node:http';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { findField } from './headers/field-names.ts';
import type { HolderTarget } from './target.ts';

const MOST_IDLE = 1_024;
/** A holder that announces when it will close is left this much earlier. */
const KEEP_ALIVE_MARGIN_MS = 1_000;
/** How long a connection is silent before the kernel asks whether the other end is still there. */
const PROBE_AFTER_MS = 1_000;

/**
 * What all connections are read into, one after the other: Node's parser is done with the bytes when it returns, and gives bodies on as
 * copies. Without it, each read takes 64 KiB outside the heap, and these, with the copies, make the garbage collector work twice as
 * much for large answers: see decision 25.
 */
const READ_INTO = Buffer.allocUnsafeSlow(65_536);

/**
 * The plain connections to one address, without a limit, which would be a hidden queue. They are kept here and not by an agent
 * of Node, whose bookkeeping costs a fifth of what forwarding a small request costs: see decision 25.
 */
export class KeptConnections {
  readonly #target: Pick<HolderTarget, 'host' | 'port'>;
  readonly #idleTimeoutMs: number;
  readonly #idle: Socket[] = [];
  /** Idle since this round of the event loop. */
  readonly #freed: Socket[] = [];
  #closed = false;

  constructor(target: Pick<HolderTarget, 'host' | 'port'>, idleTimeoutMs: number) {
    this.#target = target;
    this.#idleTimeoutMs = idleTimeoutMs;
  }

  /** The one that was used last, so that those that are not needed become idle for long; undefined where all are in use. */
  takeIdle(): Socket | undefined {
    let socket = this.#idle.pop();
    while (socket !== undefined && !isUsable(socket)) socket = this.#idle.pop();
    if (socket === undefined) return undefined;
    socket.off('data', closeAtStrayBytes);
    socket.ref();
    return socket;
  }

  /** For HTTP alone: who reads its bytes has to be done with them at once. */
  open(): Socket {
    const callback = (length: number): boolean => {
      // Without a listener they would be lost: no request has asked for them.
      if (!socket.emit('data', READ_INTO.subarray(0, length))) socket.destroy();
      return true;
    };
    const socket: Socket = connect({ ...this.#options, onread: { buffer: READ_INTO, callback } });
    return this.#watch(socket);
  }

  /** For a request that may become a connection of another protocol: never kept, and read as any other. */
  openForUpgrade(): Socket {
    return this.#watch(connect(this.#options));
  }

  get #options(): TcpNetConnectOpts {
    const { host, port } = this.#target;
    return { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };
  }

  #watch(socket: Socket): Socket {
    socket.setTimeout(this.#idleTimeoutMs);
    // Also fires on a connection in use, where it means nothing: bodies may rest.
    socket.on('timeout', () => {
      if (this.#idle.includes(socket)) socket.destroy();
    });
    // Of one in use the request hears, too; of one that is idle nobody else would, and the process would end.
    socket.on('error', () => {});
    socket.on('close', () => this.#forget(socket));
    return socket;
  }

  /** Keeps the connection for the next request, once this one is over; or closes it where that could not be trusted. */
  keepAfter(request: ClientRequest, socket: Socket): void {
    let answer: IncomingMessage | undefined;
    request.on('error', keepOwnBytes);
    request.on('response', (response) => {
      answer = response;
    });
    request.on('close', () => {
      // Node itself closes what is not to be kept, and what speaks another protocol by now is not HTTP's any more.
      if (!request.shouldKeepAlive || answer === undefined) return;
      const limit = this.#idleLimit(answer);
      if (limit > 0 && isUsable(socket)) this.#keep(socket, limit);
      else socket.destroy();
    });
  }

  /** In milliseconds; 0 where the holder closes too soon for another request to be sent safely. */
  #idleLimit({ rawHeaders }: IncomingMessage): number {
    if (this.#closed || this.#idle.length >= MOST_IDLE) return 0;
    const at = findField(rawHeaders, 'keep-alive');
    if (at === -1) return this.#idleTimeoutMs;
    const [, seconds] = /^timeout=(\d+)/.exec(rawHeaders[at + 1] as string) ?? [];
    if (seconds === undefined) return this.#idleTimeoutMs;
    return Math.min(this.#idleTimeoutMs, Number(seconds) * 1_000 - KEEP_ALIVE_MARGIN_MS);
  }

  #keep(socket: Socket, limitMs: number): void {
    if (socket.timeout !== limitMs) socket.setTimeout(limitMs);
    socket.unref();
    socket.on('data', closeAtStrayBytes);
    if (this.#freed.push(socket) === 1) setImmediate(this.#release);
  }

  /**
   * Only now may they be used again: what a holder sends right after its answer has been read by the next round, in most cases,
   * and has closed the connection. A request of the same round would have taken it for its answer.
   */
  readonly #release = (): void => {
    this.#idle.push(...this.#freed.splice(0).filter(isUsable));
    if (this.#closed) this.closeIdle();
  };

  #forget(socket: Socket): void {
    const place = this.#idle.indexOf(socket);
    if (place !== -1) this.#idle.splice(place, 1);
  }

  /** Those that are idle now. */
  closeIdle(): void {
    for (const socket of this.#idle.splice(0)) socket.destroy();
  }

  /** Those in use as well, as soon as they are idle. */
  close(): void {
    this.#closed = true;
    this.closeIdle();
  }
}

/** The error of an answer that is not HTTP shows what was read, and whoever keeps it would see later answers there. */
function keepOwnBytes(error: Error & { rawPacket?: Uint8Array }): void {
  if (error.rawPacket !== undefined) error.rawPacket = Buffer.from(error.rawPacket);
}

/** Neither closed nor half closed. */
function isUsable(socket: Socket): boolean {
  return !socket.destroyed && socket.writable;
}

/** What nobody asked for would be read as the answer to the next request. */
function closeAtStrayBytes(this: Socket): void {
  this.destroy();
}
