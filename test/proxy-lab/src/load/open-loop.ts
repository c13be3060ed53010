import type { Outcome } from '../client/outcome.ts';

const TICK_MS = 5;

/** Sends so many requests a second, whatever becomes of those before, until it is stopped. */
export class OpenLoop {
  readonly #perSecond: number;
  readonly #next: (number: number) => Promise<Outcome>;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #sent: Promise<Outcome>[] = [];

  constructor(perSecond: number, next: (number: number) => Promise<Outcome>) {
    this.#perSecond = perSecond;
    this.#next = next;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  get sent(): number {
    return this.#sent.length;
  }

  /** What came of all of them, once the last is over. */
  async stop(): Promise<Outcome[]> {
    clearInterval(this.#timer);
    return Promise.all(this.#sent);
  }

  #tick(): void {
    const due = ((performance.now() - this.#startedAt) / 1_000) * this.#perSecond;
    while (this.#sent.length < due) this.#sent.push(this.#next(this.#sent.length));
  }
}
