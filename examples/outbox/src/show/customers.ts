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
    for (let sent = 1; !(await this.#isAccepted(order)); sent += 1) {
      if (sent === 1) this.sentAgain += 1;
      // A show that was interrupted has no process left to ask.
      if (this.#options.signal.aborted && this.#options.fleet.running.length === 0) return;
      await sleep(PAUSE_MS);
    }
    this.placed += 1;
  }

  async #isAccepted(order: Order): Promise<boolean> {
    const { fleet, random } = this.#options;
    const member = fleet.running[Math.floor(random() * fleet.running.length)];
    if (member === undefined) return false;
    const answer = await post(`${member.origin}/orders`, order).catch(() => null);
    return answer?.ok === true;
  }
}

/** @throws {Error} when there was no answer. */
export function post(url: string, body?: object): Promise<Response> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  if (body === undefined) return fetch(url, { method: 'POST', signal });
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), signal });
}
