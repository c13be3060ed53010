import http, { type ClientRequest } from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
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
}

/** The connections to holders: one agent for each scheme, without a limit on sockets, which would be a hidden queue. */
export class Transport {
  readonly #options: ResolvedProxyOptions;
  readonly #http: http.Agent;
  #https: https.Agent | null = null;

  constructor(options: ResolvedProxyOptions) {
    this.#options = options;
    this.#http = new http.Agent(this.#agentOptions());
  }

  /** Begins a request. @throws what Node throws at a head that it cannot write; nothing was sent then. */
  open(target: HolderTarget, head: OutgoingHead): ClientRequest {
    // After the event loop was blocked, the timers that close idle connections are late, and the holder has closed them.
    if (head.now - target.usedAt > this.#options.idleTimeoutMs) this.#closeIdle(`${target.host}:${target.port}:`);
    const options: https.RequestOptions = {
      agent: this.#http,
      host: target.host,
      port: target.port,
      method: head.method,
      path: head.path,
      headers: head.fields,
      // Nothing may be added to the fields: a `Transfer-Encoding` on a POST without a body would be another request.
      setDefaultHeaders: false,
    };
    if (this.#options.maxHeaderSize !== undefined) options.maxHeaderSize = this.#options.maxHeaderSize;
    const request = target.secure ? this.#openSecure(target, options) : http.request(options);
    request.maxHeadersCount = 0;
    return request;
  }

  #openSecure(target: HolderTarget, options: https.RequestOptions): ClientRequest {
    this.#https ??= new https.Agent({
      ...this.#agentOptions(),
      secureContext: this.#options.tls.secureContext,
      // Said aloud, or an environment variable (NODE_TLS_REJECT_UNAUTHORIZED) could turn it off.
      rejectUnauthorized: true,
    });
    options.agent = this.#https;
    options.servername = this.#options.tls.servername ?? (isIP(target.host) === 0 ? target.host : '');
    return https.request(options);
  }

  /** The idle limit is the agent's timeout. It also fires on a socket in use, where nobody listens to it: bodies may rest. */
  #agentOptions(): http.AgentOptions {
    return { keepAlive: true, maxFreeSockets: 1_024, timeout: this.#options.idleTimeoutMs };
  }

  /** Closes what is idle now, and what is in use as soon as it is idle. */
  close(): void {
    for (const agent of this.#agents()) agent.maxFreeSockets = 0;
    this.#closeIdle();
  }

  /** @param to how the agent's names of the connections begin that are meant; all of them by default. */
  #closeIdle(to = ''): void {
    for (const agent of this.#agents()) {
      for (const [name, sockets] of Object.entries(agent.freeSockets)) {
        if (name.startsWith(to)) closeAll(sockets ?? []);
      }
    }
  }

  #agents(): http.Agent[] {
    return this.#https === null ? [this.#http] : [this.#http, this.#https];
  }
}

/** A copy is walked: the agent takes each socket out of its list as it closes. */
function closeAll(sockets: readonly Socket[]): void {
  for (const socket of sockets.slice()) socket.destroy();
}
