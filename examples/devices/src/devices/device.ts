/** Who has a device. */
export interface Owner {
  /** Label of the process. */
  readonly by: string;
  readonly token: number;
}

/** A time in which a device had no owner, on the monotonic clock of the show. */
export interface Gap {
  readonly device: string;
  /** Label of the process that it had before. */
  readonly after: string;
  readonly from: number;
  readonly ms: number;
}

/** What all devices together have seen. */
export class DeviceRecords {
  readonly gaps: Gap[] = [];
  /** Commands executed, by the label of the process that sent them. */
  readonly executed = new Map<string, number>();
  /** Times that a device had a second connection while the first one was open. */
  secondConnections = 0;
  /** Connections that came with a token that is too low, and were not let in. */
  refused = 0;
  /** Commands that came over a connection that was the device's no more, and were not executed. */
  strayCommands = 0;
}

/** A simulated device. It knows the highest fencing token that it has seen, and lets in nobody with a lower one. */
export class Device {
  readonly id: string;
  readonly #records: DeviceRecords;
  readonly #now: () => number;
  #highest = 0;
  #owner: Owner | null = null;
  #lost: { readonly by: string; readonly at: number } | null = null;

  constructor(id: string, records: DeviceRecords, now: () => number) {
    this.id = id;
    this.#records = records;
    this.#now = now;
  }

  get owner(): Owner | null {
    return this.#owner;
  }

  /** Whether it lets the process in, which then has the device; whoever had it before has it no more. */
  accept(owner: Owner): boolean {
    if (owner.token < this.#highest) {
      this.#records.refused += 1;
      return false;
    }
    if (this.#owner !== null) this.#records.secondConnections += 1;
    this.#highest = owner.token;
    this.#owner = owner;
    if (this.#lost !== null) {
      const { by, at } = this.#lost;
      this.#records.gaps.push({ device: this.id, after: by, from: at, ms: this.#now() - at });
      this.#lost = null;
    }
    return true;
  }

  /** Whether it executes a command that came over the connection of `owner`. */
  execute(owner: Owner): boolean {
    if (owner !== this.#owner) {
      this.#records.strayCommands += 1;
      return false;
    }
    this.#records.executed.set(owner.by, (this.#records.executed.get(owner.by) ?? 0) + 1);
    return true;
  }

  /** The connection of `owner` is closed. */
  leave(owner: Owner): void {
    if (owner !== this.#owner) return;
    this.#owner = null;
    this.#lost = { by: owner.by, at: this.#now() };
  }
}
