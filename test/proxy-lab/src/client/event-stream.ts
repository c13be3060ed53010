import http, { type ClientRequest } from 'node:http';
import { nowUs } from '../../../lab/src/monotonic.ts';
import { EventOrder } from '../checker/event-order.ts';
import type { Entry } from './send.ts';

/** One client of an event stream, on a connection of its own. Times are readings of `nowUs`. */
export class EventStream {
  readonly id: string;
  readonly order = new EventOrder();
  readonly startedAt = nowUs();
  headAt: number | null = null;
  /** When this client left; null when it did not. */
  leftAt: number | null = null;
  /** How it ended by itself: as if it were complete, or as a break that a client notices. */
  ended: 'complete' | 'broken' | null = null;
  endedAt = 0;
  readonly #request: ClientRequest;

  constructor(id: string, { port }: Entry) {
    this.id = id;
    this.#request = http.get({ host: '127.0.0.1', port, path: `/held/events?id=${id}`, agent: false });
    this.#request.on('error', () => this.#end('broken'));
    this.#request.on('response', (answer) => {
      if (answer.statusCode === 200) this.headAt = nowUs();
      answer.on('data', (chunk: Buffer) => this.order.take(chunk.toString()));
      answer.on('error', () => this.#end('broken'));
      answer.on('end', () => this.#end(answer.complete ? 'complete' : 'broken'));
    });
  }

  get isOpen(): boolean {
    return this.headAt !== null && this.ended === null && this.leftAt === null;
  }

  leave(): void {
    this.leftAt = nowUs();
    this.#request.destroy();
  }

  #end(how: 'complete' | 'broken'): void {
    if (this.ended !== null || this.leftAt !== null) return;
    this.ended = how;
    this.endedAt = nowUs();
  }
}
