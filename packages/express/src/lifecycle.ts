import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Leasehold, LeaseholdError } from '@leasehold/core';
import { StartedLeasehold } from '@leasehold/core/adapter';
import { interceptEvents, tellAddress } from '@leasehold/proxy/adapter';
import { Connections } from './connections.ts';
import {
  type LeaseholdLifecycleOptions,
  requireServer,
  type ResolvedLifecycleOptions,
  resolveLifecycleOptions,
} from './lifecycle-options.ts';
import { joinServer, leaveServer, proxiesOf } from './proxies.ts';

/** A Leasehold and a server that live and end together. */
export interface LeaseholdLifecycle extends AsyncDisposable {
  /** Resolves when the roles are competed for, as the `startup` of the Leasehold says; rejects with what `start()` rejects with. */
  readonly ready: Promise<void>;
  /** Resolves when {@link close} is done, whoever called it, a signal too. What the work needs (a pool) is closed after it. */
  readonly closed: Promise<void>;
  /**
   * Ends gracefully: stops accepting connections and forwarding; holds nothing from here on, aborts the terms and waits for
   * their work; gives the roles back; cuts event streams; and closes all connections, upgraded ones too, when the last
   * request in flight has ended. A second call gets the promise of the first.
   */
  close(): Promise<void>;
}

/**
 * Starts the Leasehold, tells the others its address once the server listens, and ends both in the right order. Upgrades that
 * belong to another instance are answered before any other `upgrade` listener; all others are left to those listeners.
 *
 * It finds the proxies by itself: those that `roleHolderProxy` of this package made for this Leasehold.
 *
 * - A Leasehold that was started before is not stopped here.
 * - A server that is closed without it ends it too, when the last connection is closed: later than {@link LeaseholdLifecycle.close} would.
 * - It listens to no signal unless `signals` names it.
 *
 * @example
 * ```ts
 * const server = app.listen(3000);
 * const lifecycle = leaseholdLifecycle(leasehold, server, { signals: ['SIGTERM', 'SIGINT'] });
 * await lifecycle.ready;
 * ```
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_ADDRESS
 * @throws {LeaseholdError} LEASEHOLD_ALREADY_REGISTERED when the server has a lifecycle.
 */
export function leaseholdLifecycle(
  leasehold: Leasehold,
  server: Server,
  options: LeaseholdLifecycleOptions = {},
): LeaseholdLifecycle {
  requireServer(server);
  return new ServerLifecycle(leasehold, server, resolveLifecycleOptions(options));
}

const servers = new WeakSet<Server>();

class ServerLifecycle implements LeaseholdLifecycle {
  readonly ready: Promise<void>;
  readonly closed: Promise<void>;
  readonly #leasehold: Leasehold;
  readonly #server: Server;
  readonly #options: ResolvedLifecycleOptions;
  readonly #started: StartedLeasehold;
  readonly #connections: Connections;
  readonly #releaseEvents: () => void;
  readonly #resolveClosed: (done: Promise<void>) => void;
  #closing = false;

  constructor(leasehold: Leasehold, server: Server, options: ResolvedLifecycleOptions) {
    claim(server);
    joinServer(leasehold);
    this.#leasehold = leasehold;
    this.#server = server;
    this.#options = options;
    this.#started = new StartedLeasehold(leasehold);
    this.#connections = new Connections(server);
    this.#releaseEvents = interceptEvents(server, {
      upgrade: (...upgrade) => this.#takesUpgrade(...upgrade),
      request: (_request, response) => this.#connections.begin(response),
    });
    const closed = Promise.withResolvers<void>();
    this.closed = closed.promise;
    this.#resolveClosed = closed.resolve;
    if (server.listening) this.#tellAddress();
    else server.once('listening', this.#tellAddress);
    // An application that closes its server itself would keep the role, and nobody would reach it any more.
    server.once('close', this.#onServerClose);
    for (const signal of options.signals) process.once(signal, this.#onSignal);
    this.ready = this.#started.start();
  }

  close(): Promise<void> {
    if (this.#closing) return this.closed;
    this.#closing = true;
    // Whoever awaits it is told that start() was interrupted; it is nobody's unhandled rejection.
    this.ready.catch(() => {});
    this.#resolveClosed(this.#close());
    return this.closed;
  }

  async #close(): Promise<void> {
    this.#server.off('listening', this.#tellAddress).off('close', this.#onServerClose);
    const proxies = [...leaveServer(this.#leasehold)];
    for (const proxy of proxies) proxy.close();
    const disconnected = this.#connections.close(this.#options.closeTimeoutMs);
    try {
      await this.#started.stop();
    } finally {
      for (const proxy of proxies) proxy.cutEndless();
      this.#connections.leave();
      await disconnected;
      this.#release();
    }
  }

  #release(): void {
    this.#releaseEvents();
    for (const signal of this.#options.signals) process.off(signal, this.#onSignal);
    servers.delete(this.#server);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #takesUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    for (const proxy of proxiesOf(this.#leasehold)) {
      if (proxy.handleUpgrade(request, socket, head)) return true;
    }
    return false;
  }

  readonly #tellAddress = (): void => {
    const { advertise, logger } = this.#options;
    tellAddress(this.#leasehold, advertise, { server: this.#server, logger });
  };

  readonly #onSignal = (): void => void this.close();

  /** Whoever awaits `closed` is told how it went; otherwise a failure is nobody's unhandled rejection. */
  readonly #onServerClose = (): void => void this.close().catch(() => {});
}

/** Two would answer one upgrade twice, and close the server under each other. */
function claim(server: Server): void {
  if (servers.has(server)) {
    throw new LeaseholdError(
      'LEASEHOLD_ALREADY_REGISTERED',
      'server has a lifecycle already; call leaseholdLifecycle() once for each server.',
      { option: 'server' },
    );
  }
  servers.add(server);
}
