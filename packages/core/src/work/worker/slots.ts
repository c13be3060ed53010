export interface SlotsOptions<Entry> {
  readonly count: number;
  /** Never rejects. */
  readonly work: (entry: Entry) => Promise<void>;
  /** A slot became free, or an entry left the queue. */
  readonly onRoom: () => void;
}

/** Entries that wait, in order, and so many of them at a time at work. */
export class Slots<Entry> {
  readonly #options: SlotsOptions<Entry>;
  #queue: Entry[] = [];
  /** Where the queue begins: an array that is shifted copies itself. */
  #head = 0;
  #running = 0;

  constructor(options: SlotsOptions<Entry>) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#queue.length - this.#head;
  }

  get running(): number {
    return this.#running;
  }

  add(entries: readonly Entry[]): void {
    this.#queue = [...this.#queue.slice(this.#head), ...entries];
    this.#head = 0;
    this.#fill();
  }

  /** Empties the queue. */
  takeWaiting(): readonly Entry[] {
    const waiting = this.#queue.slice(this.#head);
    this.#queue = [];
    this.#head = 0;
    return waiting;
  }

  #fill(): void {
    while (this.#running < this.#options.count && this.waiting > 0) {
      const entry = this.#queue[this.#head] as Entry;
      this.#head += 1;
      this.#running += 1;
      void this.#run(entry);
    }
  }

  async #run(entry: Entry): Promise<void> {
    await this.#options.work(entry);
    this.#running -= 1;
    this.#fill();
    this.#options.onRoom();
  }
}
