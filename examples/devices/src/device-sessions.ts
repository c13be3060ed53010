import { setTimeout as sleep } from 'node:timers/promises';
import type { RolePartition, Term } from '@leasehold/core';
import { DeviceSession, type Gateway } from './device-session.ts';

const RETRY_MS = 100;

export interface DeviceSessionsOptions {
  readonly devices: RolePartition;
  readonly gateway: Gateway;
  /** Label of this process. */
  readonly label: string;
}

/** One open connection to each device that this process owns, and to no other. */
export class DeviceSessions {
  readonly #options: DeviceSessionsOptions;
  readonly #open = new Map<string, DeviceSession>();

  constructor(options: DeviceSessionsOptions) {
    this.#options = options;
  }

  /** Of a device of another process there is none, nor of one that does not answer. */
  get(id: string): DeviceSession | undefined {
    return this.#open.get(id);
  }

  /**
   * As soon as a partition is held, its devices are connected, and they stay so until the term ends. It is work under the role:
   * whoever is to have the partition next gets it when the last of these connections is closed.
   */
  keep(ids: readonly string[]): void {
    const { devices } = this.#options;
    const ofPartition = Map.groupBy(ids, (id) => devices.resolve(id));
    for (const [partition, own] of ofPartition) {
      partition.every('1s', (term) => Promise.all(own.map((id) => this.#keepOpen(id, term))));
    }
  }

  async #keepOpen(id: string, { fencingToken, signal }: Term): Promise<void> {
    const { gateway, label } = this.#options;
    const over = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    while (!signal.aborted) {
      try {
        const session = await DeviceSession.open(gateway, { device: id, by: label, token: Number(fencingToken) });
        this.#open.set(id, session);
        await Promise.race([session.closed, over]);
        this.#open.delete(id);
        await session.close();
      } catch {
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
  }
}
