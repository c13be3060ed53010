import http, { type ClientRequest } from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import { KeptConnections } from './kept-connections.ts';
import type { ResolvedProxyOptions } from './options.ts';
import type { HolderTarget } from './target.ts';

export interface OutgoingHead {
  readonly method: string;
  /** The request target, byte for byte. */
  readonly path: string;
  /** Names and values in turn. */
  readonly fields: string[];
  /** Of the monotonic clock. */
  readonly now: number;
  /** Whether it asks for another protocol. */
  readonly isUpgrade: boolean;
}

/** The connections to holders, without a limit, which would be a hidden queue. */
export class Transport {
  readonly #options: ResolvedProxyOptions;
  /** By the holder's origin. */
  readonly #plain = new Map<string, KeptConnections>();
  #https: https.Agent | null = null;
  #closed = false;

  constructor(options: ResolvedProxyOptions) {
    this.#options = options;
  }

  /** Begins a request. @throws what Node throws at a head that it cannot write; nothing was sent then. */
  open(target: HolderTarget, head: OutgoingHead): ClientRequest {
    // After the event loop was blocked, the timers that close idle connections are late, and the holder has closed them.
    if (head.now - target.usedAt > this.#options.idleTimeoutMs) this.#closeIdle(target);
    const options: https.RequestOptions = {
      host: target.host,
      port: target.port,
      method: head.method,
      path: head.path,
      headers: head.fields,
      // Nothing may be added to the fields: a `Transfer-Encoding` on a POST without a body would be another request.
      setDefaultHeaders: false,
    };
    if (this.#options.maxHeaderSize !== undefined) options.maxHeaderSize = this.#options.maxHeaderSize;
    const request = target.secure ? this.#openSecure(target, options) : this.#openPlain(target, options, head.isUpgrade);
    request.maxHeadersCount = 0;
    return request;
  }

  #openPlain(target: HolderTarget, options: http.RequestOptions, isUpgrade: boolean): ClientRequest {
    const connections = this.#connectionsTo(target);
    let reused: Socket | undefined;
    let socket: Socket | undefined;
    // Asked for by Node once the head is written, so that none is taken for a head that cannot be.
    options.createConnection = () => {
      reused = isUpgrade ? undefined : connections.takeIdle();
      return (socket = reused ?? (isUpgrade ? connections.openForUpgrade() : connections.open()));
    };
    const request = http.request(options);
    // Without an agent Node would take it for the last on its connection.
    request.shouldKeepAlive = true;
    request.reusedSocket = reused !== undefined;
    if (socket !== undefined) connections.keepAfter(request, socket);
    return request;
  }

  #connectionsTo(target: HolderTarget): KeptConnections {
    let connections = this.#plain.get(target.address);
    if (connections === undefined) {
      connections = new KeptConnections(target, this.#options.idleTimeoutMs);
      if (this.#closed) connections.close();
      this.#plain.set(target.address, connections);
    }
    return connections;
  }

  /** Node's own agent keeps these: it also resumes TLS sessions. */
  #openSecure(target: HolderTarget, options: https.RequestOptions): ClientRequest {
    this.#https ??= this.#createAgent();
    options.agent = this.#https;
    options.servername = this.#options.tls.servername ?? (isIP(target.host) === 0 ? target.host : '');
    return https.request(options);
  }

  /** The idle limit is the agent's timeout. It also fires on a socket in use, where nobody listens to it: bodies may rest. */
  #createAgent(): https.Agent {
    return new https.Agent({
      keepAlive: true,
      maxFreeSockets: this.#closed ? 0 : 1_024,
      timeout: this.#options.idleTimeoutMs,
      secureContext: this.#options.tls.secureContext,
      // Said aloud, or an environment variable (NODE_TLS_REJECT_UNAUTHORIZED) could turn it off.
      rejectUnauthorized: true,
    });
  }

  /** Closes what is idle now, and what is in use as soon as it is idle. */
  close(): void {
    this.#closed = true;
    for (const connections of this.#plain.values()) connections.close();
    if (this.#https === null) return;
    this.#https.maxFreeSockets = 0;
    this.#closeIdleSecure('');
  }

  #closeIdle(target: HolderTarget): void {
    if (target.secure) this.#closeIdleSecure(`${target.host}:${target.port}:`);
    else this.#plain.get(target.address)?.closeIdle();
  }

  /** @param to how the agent's names of the connections begin that are meant. */
  #closeIdleSecure(to: string): void {
    for (const [name, sockets] of Object.entries(this.#https?.freeSockets ?? {})) {
      if (name.startsWith(to)) closeAll(sockets ?? []);
    }
  }
}

/** A copy is walked: the agent takes each socket out of its list as it closes. */
function closeAll(sockets: readonly Socket[]): void {
  for (const socket of sockets.slice()) socket.destroy();
}
