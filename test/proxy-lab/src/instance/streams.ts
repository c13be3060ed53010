import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowUs } from '../../../lab/src/monotonic.ts';
import type { WriteLine } from '../../../lab/src/worker/log-file.ts';
import type { Line } from './config.ts';

/** The open event streams of one instance. */
export class Streams {
  readonly #open = new Map<string, ServerResponse>();
  readonly #write: WriteLine<Line>;

  constructor(write: WriteLine<Line>) {
    this.#write = write;
  }

  /** The head goes out, and no event yet. */
  open(id: string, response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
    response.flushHeaders();
    this.#open.set(id, response);
    response.on('close', () => {
      this.#write({ k: 'left', id, at: nowUs() });
      this.#open.delete(id);
    });
  }

  /** Events `1` to `events`, to every stream that is open at that moment. */
  async publish(events: number, everyMs: number): Promise<void> {
    for (let event = 1; event <= events; event += 1) {
      for (const response of this.#open.values()) response.write(`id: ${event}\ndata: event ${event}\n\n`);
      await sleep(everyMs);
    }
  }
}
