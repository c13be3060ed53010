import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import {
  createLeasehold,
  type Leasehold,
  type LeaseholdOptions,
  type PartitionOptions,
  type RolePartition,
} from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { onTestFinished } from 'vitest';
import { type ManualClock, manualClock } from '../../../testing/src/manual-clock.ts';

export interface Instance {
  readonly leasehold: Leasehold;
  readonly devices: RolePartition;
  readonly id: string;
  /** What start() came to; resolved at once unless another `startup` is given. */
  readonly started: Promise<unknown>;
  /** Cuts it off from the store, as a frozen process or a lost network is; or lets it back. */
  cutOff(cut: boolean): void;
}

/** Numbers that look random, and are the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Instances on the rows of one memory database, in time that a test moves. */
export class Fleet {
  readonly clock: ManualClock = manualClock();
  readonly database: MemoryDatabase = new MemoryDatabase({ clock: this.clock });
  readonly instances: Instance[] = [];
  readonly #random: () => number;
  readonly #lastBeats = new Map<string, number>();
  #made = 0;
  /** Told of each heartbeat that reaches the database. */
  onBeat: (id: string) => void = () => {};

  constructor(seed: number = 1) {
    this.#random = randomOf(seed);
  }

  /** An instance with the partition `devices`, fair unless told otherwise; its start is begun. */
  join(options: PartitionOptions, settings: LeaseholdOptions = {}): Instance {
    this.#made += 1;
    let cut = false;
    const store = memoryStore({ database: this.database });
    const leasehold = this.#create({
      store: {
        ...store,
        heartbeat: (request, call) => {
          if (cut) return new Promise(() => {});
          this.#lastBeats.set(request.instance.id, this.clock.monotonic());
          this.onBeat(request.instance.id);
          return store.heartbeat(request, call);
        },
        release: (request, call) => {
          if (cut) return new Promise(() => {});
          if (request.leaving) this.#lastBeats.delete(request.instance.id);
          return store.release(request, call);
        },
      },
      clock: this.clock,
      random: this.#random,
      startup: 'background',
      ...settings,
      instance: { label: `app-${String(this.#made).padStart(2, '0')}`, ...settings.instance },
    });
    const devices = leasehold.partition('devices', { balance: 'fair', ...options });
    const { id } = leasehold.instance;
    const started = leasehold.start().catch((error: unknown) => error);
    const instance: Instance = { leasehold, devices, id, started, cutOff: (value) => (cut = value) };
    this.instances.push(instance);
    onTestFinished(async () => {
      const stopped = leasehold.stop();
      cut = false;
      await this.clock.advance(60_000);
      await stopped;
    });
    return instance;
  }

  /** With an id that the seed decides, as all else: it is what the order of members hangs on. */
  #create(options: LeaseholdOptions): Leasehold {
    const original = crypto.randomBytes;
    crypto.randomBytes = (size: number) => Buffer.from(Array.from({ length: size }, () => this.#random() * 256));
    syncBuiltinESMExports();
    try {
      return createLeasehold(options);
    } finally {
      crypto.randomBytes = original;
      syncBuiltinESMExports();
    }
  }

  leave(instance: Instance): void {
    this.instances.splice(this.instances.indexOf(instance), 1);
  }

  /** Who counts as alive in the database, with leases of 15 s. */
  members(): string {
    const now = this.clock.monotonic();
    return [...this.#lastBeats]
      .filter(([, at]) => now < at + 15_000)
      .map(([id]) => id)
      .toSorted()
      .join();
  }

  /** The owner of each role at this moment, as its holders believe; two of one role are an error. */
  owners(): (string | null)[] {
    const [first] = this.instances;
    return Array.from({ length: first?.devices.count ?? 0 }, (_, place) => {
      const holders = this.instances.filter(({ devices }) => devices.partitions[place]?.isHeld === true);
      if (holders.length > 1) throw new Error(`partition ${place} has two owners: ${holders.map(({ id }) => id).join(', ')}`);
      return holders[0]?.id ?? null;
    });
  }

  /** The counts under which anybody believes to hold a role of the partition. */
  countsHeld(): number[] {
    const holding = this.instances.filter(({ devices }) => devices.partitions.some(({ isHeld }) => isHeld));
    return [...new Set(holding.map(({ devices }) => devices.count))];
  }

  /** How many roles each instance holds, most first. */
  spread(): number[] {
    const owners = this.owners();
    return this.instances.map(({ id }) => owners.filter((owner) => owner === id).length).toSorted((a, b) => b - a);
  }
}
