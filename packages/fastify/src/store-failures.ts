import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { HeartbeatMessage, Leasehold } from '@leasehold/core';

const CHANNEL = 'leasehold:heartbeat';

/** Remembers with what error the last heartbeat of one Leasehold failed, for whoever gives up waiting for its store. */
export class StoreFailures {
  readonly #leasehold: Leasehold;
  #last: unknown;

  constructor(leasehold: Leasehold) {
    this.#leasehold = leasehold;
    subscribe(CHANNEL, this.#onHeartbeat);
  }

  /** Undefined when nothing has failed. */
  get last(): unknown {
    return this.#last;
  }

  close(): void {
    unsubscribe(CHANNEL, this.#onHeartbeat);
  }

  readonly #onHeartbeat = (message: unknown): void => {
    const { instance, error } = message as HeartbeatMessage;
    if (instance === this.#leasehold.instance.id) this.#last = error;
  };
}
