import { delay, type Leasehold, LeaseholdError, showValue, systemClock } from '@leasehold/core';
import { StartedLeasehold } from '@leasehold/core/adapter';
import { StoreFailures } from './store-failures.ts';

export interface LifecycleOptions {
  readonly leasehold: Leasehold;
  /** Fastify's own limit for a hook, in milliseconds; 0 when there is none. */
  readonly hookTimeoutMs: number;
}

/** Fastify's own error at its limit names a hook and nothing else; ours has to come before it. */
const SHARE_OF_HOOK_TIMEOUT = 0.9;
/** For the others to hear that a role was given back: they ask at once, but 100 ms after they last asked at the soonest. */
const NEWS_TRAVEL_MS = 250;

/** A {@link StartedLeasehold} within the limits of Fastify's hooks. */
export class Lifecycle {
  readonly #leasehold: Leasehold;
  readonly #hookTimeoutMs: number;
  readonly #started: StartedLeasehold;
  #closing = false;

  constructor(options: LifecycleOptions) {
    this.#leasehold = options.leasehold;
    this.#started = new StartedLeasehold(options.leasehold);
    this.#hookTimeoutMs = options.hookTimeoutMs;
  }

  /**
   * @throws {LeaseholdError} whatever `Leasehold.start` throws; LEASEHOLD_STORE_UNAVAILABLE when the store has not
   * answered shortly before Fastify gives the hook up: then nothing competes for a role in an application that is not up.
   */
  async start(): Promise<void> {
    // Fastify runs the hooks of a close() that came right after ready() before those of ready().
    if (this.#closing) return;
    if (this.#hookTimeoutMs === 0) return this.#started.start();
    const limit = new AbortController();
    const failures = new StoreFailures(this.#leasehold);
    try {
      await Promise.race([this.#started.start(), this.#untilLate(limit.signal, failures)]);
    } finally {
      limit.abort();
      failures.close();
    }
  }

  async #untilLate(signal: AbortSignal, failures: StoreFailures): Promise<void> {
    await delay(systemClock, this.#hookTimeoutMs * SHARE_OF_HOOK_TIMEOUT, signal);
    if (signal.aborted) return;
    const cause = failures.last;
    this.beginStop();
    throw new LeaseholdError(
      'LEASEHOLD_STORE_UNAVAILABLE',
      `the store has not answered${because(cause)}, and pluginTimeout (${this.#hookTimeoutMs} ms) is nearly over. ` +
        `Give startup: 'background' to start without it, or Fastify a longer pluginTimeout to wait for it.`,
      cause === undefined ? {} : { cause },
    );
  }

  /** Holds nothing from here on, and aborts the terms; then drains and releases by itself. */
  beginStop(): void {
    this.#closing = true;
    void this.#started.stop();
  }

  /** Gives back what is held here while the server still answers, until the others have heard that it is not held here. */
  async handOver(server: { readonly listening: boolean }): Promise<void> {
    const isHolder = this.#started.isOurs && this.#leasehold.leases.heldRoles().length > 0;
    await this.stopped();
    if (isHolder && server.listening) await delay(systemClock, NEWS_TRAVEL_MS);
  }

  /** Resolves when the work under the roles has ended (or its time has) and the roles are given back. */
  async stopped(): Promise<void> {
    this.#closing = true;
    await this.#started.stop();
  }
}

function because(cause: unknown): string {
  if (cause === undefined) return '';
  return ` (${cause instanceof Error ? cause.message.replace(/\.$/, '') : showValue(cause)})`;
}
