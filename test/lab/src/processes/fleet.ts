import { startTcpProxy } from '@leasehold/testing';
import { seededRandom } from '../random.ts';
import { Reaper } from '../../../support/reaper.ts';
import { Slot, type SlotOptions } from './slot.ts';

export interface FleetOptions extends Omit<SlotOptions, 'index' | 'proxy' | 'reaper' | 'random'> {
  readonly processes: number;
  readonly databasePort: number;
  readonly seed: number;
}

/** All instances of the application under test. */
export class Fleet {
  readonly slots: readonly Slot[];

  private constructor(slots: readonly Slot[]) {
    this.slots = slots;
  }

  /** Starts them all, together. */
  static async start(options: FleetOptions): Promise<Fleet> {
    const { processes, databasePort, seed, ...common } = options;
    const reaper = new Reaper();
    const slots: Slot[] = [];
    for (let index = 0; index < processes; index += 1) {
      const proxy = await startTcpProxy({ targetPort: databasePort });
      slots.push(new Slot({ ...common, index, proxy, reaper, random: seededRandom(seed * 1_000 + index) }));
    }
    const fleet = new Fleet(slots);
    await Promise.all(slots.map((slot) => fleet.#startSlot(slot)));
    return fleet;
  }

  async #startSlot(slot: Slot): Promise<void> {
    await slot.spawn();
    slot.ill = false;
  }

  slotOf(instance: string | null): Slot | undefined {
    return instance === null ? undefined : this.slots.find((slot) => slot.instance === instance);
  }

  /** Ends whatever runs, at once. */
  async destroy(): Promise<void> {
    await Promise.all(this.slots.map(async (slot) => slot.worker?.kill()));
    await Promise.all(this.slots.map((slot) => slot.proxy.stop()));
  }
}
