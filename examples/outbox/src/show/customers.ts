import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '../outbox.ts';
import type { Fleet } from './fleet.ts';

export interface CustomersOptions {
  readonly fleet: Fleet;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

const PAUSE_MS = 50;
const PATIENCE_MS = 3_000;
const MOST_AT_ONCE = 5;
const ITEMS = ['book', 'lamp', 'chair'];

/** Order from any process, and again under the same id when they got no answer. */
export class Customers {
  /** Orders that were accepted. */
  placed = 0;
  /** Orders that had to be sent again. */
  sentAgain = 0;
  readonly #options: CustomersOptions;
  readonly #underway = new Set<Promise<void>>();

  constructor(options: CustomersOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { signal, random } = this.#options;
    while (!signal.aborted) {
      const item = ITEMS[Math.floor(random() * ITEMS.length)] as string;
      if (this.#underway.size < MOST_AT_ONCE) {
        const underway = this.order(item).finally(() => this.#underway.delete(underway));
        this.#underway.add(underway);
      }
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
    await Promise.all(this.#underway);
  }

  /** Resolves when it is accepted; the last try may come after the end, as what was promised is kept. */
  async order(item: string): Promise<void> {
    const order: Order = { id: randomUUID(), item, quantity: 1 };
    let failed = false;
    for (;;) {
      const outcome = await this.#send(order);
      if (outcome === 'accepted') break;
      failed ||= outcome === 'failed';
      // A show that was interrupted has no process left to ask.
      if (this.#options.signal.aborted && this.#options.fleet.running.length === 0) return;
      await sleep(PAUSE_MS);
    }
    if (failed) this.sentAgain += 1;
    this.placed += 1;
  }

  async #send(order: Order): Promise<'accepted' | 'failed' | 'nobody-there'> {
    const { fleet, random } = this.#options;
    const member = fleet.running[Math.floor(random() * fleet.running.length)];
    if (member === undefined) return 'nobody-there';
    const answer = await post(`${member.origin}/orders`, order).catch(() => null);
    return answer?.ok === true ? 'accepted' : 'failed';
  }
}

/** @throws {Error} when there was no answer. */
export function post(url: string, body?: object): Promise<Response> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  if (body === undefined) return fetch(url, { method: 'POST', signal });
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), signal });
}
