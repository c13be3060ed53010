import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * The event streams that run through this instance. They never end by themselves, and a server closes only when its last
 * request has ended: without a cut, one open stream to a holder elsewhere would keep this application from closing.
 */
export class EventStreams {
  readonly #responses = new Set<ServerResponse>();

  /** `EventSource` always says what it accepts; other requests are left to end by themselves. */
  add(request: IncomingMessage, response: ServerResponse): void {
    if (request.headers.accept?.includes('text/event-stream') !== true) return;
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
  }

  cut(): void {
    for (const response of this.#responses) response.destroy();
  }
}
