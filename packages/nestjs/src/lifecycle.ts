import type { Leasehold, Logger } from '@leasehold/core';
import { StartedLeasehold } from '@leasehold/core/adapter';
import type { Advertise, ListeningServer } from '@leasehold/proxy';
import { resolveAdvertise, tellAddress } from '@leasehold/proxy/adapter';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import type { OwnLeaseholdSettings } from './module-options.ts';
import { requireNamesKnown } from './named-uses.ts';
import { nestLogger } from './nest-logger.ts';

/** What of a server of Node's is needed here. */
interface Server extends ListeningServer {
  readonly listening: boolean;
  once(event: 'listening', listener: () => void): unknown;
}

/** What goes when the application closes: the proxies that are installed on it. */
export interface Closing {
  /** Nothing more is forwarded; the server still runs. */
  beginClose(): void;
}

export interface LifecycleOptions {
  readonly leasehold: Leasehold;
  readonly settings: Pick<OwnLeaseholdSettings, 'advertise' | 'logger'>;
  readonly host: HttpAdapterHost;
  readonly modules: ModulesContainer;
}

/**
 * Starts and stops the Leasehold with its application. Who has started it stops it: one that tests put in its place may run
 * already.
 *
 * The module is global, and Nest calls the hooks of global modules first when it starts and last when it closes.
 */
export class Lifecycle implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  readonly leasehold: Leasehold;
  readonly logger: Logger;
  readonly #advertise: Advertise | null;
  readonly #host: HttpAdapterHost;
  readonly #modules: ModulesContainer;
  readonly #closings: Closing[] = [];
  readonly #started: StartedLeasehold;
  #stopping = false;

  /** @throws {LeaseholdError} LEASEHOLD_INVALID_ADDRESS for a URL that is none, now and not when the server listens. */
  constructor({ leasehold, settings, host, modules }: LifecycleOptions) {
    this.leasehold = leasehold;
    this.#started = new StartedLeasehold(leasehold);
    this.logger = settings.logger ?? nestLogger('Leasehold');
    this.#advertise = resolveAdvertise(settings.advertise);
    this.#host = host;
    this.#modules = modules;
  }

  addClosing(closing: Closing): void {
    this.#closings.push(closing);
  }

  /** Names are looked at here, when each module has been initialised: some register roles by hand. */
  async onApplicationBootstrap(): Promise<void> {
    requireNamesKnown(this.#modules, this.leasehold);
    this.#watchServer();
    await this.#started.start();
  }

  /** Not awaited: from here on nothing is held, and the server closes no later for it. */
  onModuleDestroy(): void {
    for (const closing of this.#closings) closing.beginClose();
    this.#stopping = true;
    void this.#started.stop();
  }

  /** Modules close their pools in `onApplicationShutdown`, those of the application before ours: work has to be done by then. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#started.stop();
  }

  /** An application without HTTP has no server. */
  #watchServer(): void {
    const server = this.#host.httpAdapter?.getHttpServer() as Server | null | undefined;
    if (server === null || server === undefined) return;
    if (server.listening) this.#onListening(server);
    else server.once('listening', () => this.#onListening(server));
  }

  #onListening(server: Server): void {
    tellAddress(this.leasehold, this.#advertise, { server, logger: this.logger });
    // What stands right after `await app.listen()` has run by then.
    if (process.env['NODE_ENV'] !== 'test') setImmediate(() => this.#lookForSignalListener());
  }

  /** Whether Nest listens cannot be asked. That nobody does can. */
  #lookForSignalListener(): void {
    if (this.#stopping || process.listenerCount('SIGTERM') > 0) return;
    this.logger.warn(
      {},
      'nothing listens to SIGTERM: it would end the process without giving its roles back, and nobody would hold them until their leases run out; call app.enableShutdownHooks() before app.listen()',
    );
  }
}
