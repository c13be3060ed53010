import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { LeaseholdError } from '@leasehold/core';
import { freePort } from '../process/free-port.ts';
import { ProxiedConnection } from './proxied-connection.ts';

export interface TcpProxyOptions {
  /** Port of the real server. */
  readonly targetPort: number;
  /** @default '127.0.0.1' */
  readonly targetHost?: string;
}

/**
 * Stands between a client and a server and makes the network fail. One fault at a time, but for `delay`; `heal` ends
 * them all.
 *
 * Gotchas: it runs in the process that started it, so a blocked event loop blocks it too.
 */
export interface TcpProxy extends AsyncDisposable {
  /** On 127.0.0.1; stays the same while the proxy runs. */
  readonly port: number;
  /** Clients that are connected. */
  readonly connectionCount: number;
  /** The same connection string, by way of the proxy. */
  connectionString(base: string): string;
  /** Resets every connection and refuses new ones. */
  cut(): Promise<void>;
  /**
   * A cable pulled out: connections stay open, new ones are accepted, nothing gets through either way, not even that
   * somebody hung up.
   */
  hang(): Promise<void>;
  /** Requests reach the server, which acts on them; replies are lost. */
  dropReplies(): Promise<void>;
  /** Passes everything on `ms` milliseconds later, each way: a round trip takes twice as long. */
  delay(ms: number): void;
  /** Ends all faults. A connection that has lost something is reset, since what follows would make no sense on it. */
  heal(): Promise<void>;
  /** Resets every connection and frees the port; harmless when called twice. */
  stop(): Promise<void>;
}

/** Starts a fault proxy on a free port of 127.0.0.1. */
export async function startTcpProxy(options: TcpProxyOptions): Promise<TcpProxy> {
  const proxy = new FaultProxy({ port: options.targetPort, host: options.targetHost ?? '127.0.0.1' }, await freePort());
  await proxy.listen();
  return proxy;
}

type Fault = 'none' | 'cut' | 'hang' | 'drop-replies';

class FaultProxy implements TcpProxy {
  readonly port: number;
  readonly #target: { readonly port: number; readonly host: string };
  readonly #connections = new Set<ProxiedConnection>();
  #server: Server | undefined;
  #fault: Fault = 'none';
  #delayMs = 0;
  #stopped = false;

  constructor(target: { port: number; host: string }, port: number) {
    this.#target = target;
    this.port = port;
  }

  get connectionCount(): number {
    return [...this.#connections].filter((connection) => connection.clientConnected).length;
  }

  connectionString(base: string): string {
    const url = new URL(base);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  async listen(): Promise<void> {
    if (this.#stopped) throw new LeaseholdError('LEASEHOLD_STOPPED', 'This TCP proxy was stopped; start another.');
    if (this.#server !== undefined) return;
    this.#server = createServer((client) => this.#accept(client));
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async cut(): Promise<void> {
    this.#fault = 'cut';
    const server = this.#server;
    this.#server = undefined;
    const closed = server === undefined ? undefined : new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of this.#connections) connection.reset();
    await closed;
  }

  hang(): Promise<void> {
    return this.#setFault('hang');
  }

  dropReplies(): Promise<void> {
    return this.#setFault('drop-replies');
  }

  delay(ms: number): void {
    this.#delayMs = ms;
  }

  async heal(): Promise<void> {
    this.#delayMs = 0;
    for (const connection of this.#connections) if (connection.damaged) connection.reset();
    await this.#setFault('none');
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return this.cut();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** The fault is there at once; the promise is for the listener, which a cut had closed. */
  #setFault(fault: 'none' | 'hang' | 'drop-replies'): Promise<void> {
    this.#fault = fault;
    return this.listen();
  }

  #accept(client: Socket): void {
    const connection = new ProxiedConnection(client, {
      target: this.#target,
      loses: (way) => this.#fault === 'hang' || (this.#fault === 'drop-replies' && way === 'reply'),
      delayMs: () => this.#delayMs,
      onClose: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    connection.open();
  }
}
