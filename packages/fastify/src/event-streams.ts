import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * The event streams that run through this instance. They never end by themselves, and a server closes only when its last
 * request has ended: without a cut, one open stream to a holder elsewhere would keep this application from closing.
 */
export class EventStreams {
  readonly #responses = new Set<ServerResponse>();

  /** `EventSource` asks for nothing else; a client that would take an event stream among other things is left to end by itself. */
  add(request: IncomingMessage, response: ServerResponse): void {
    if (!/^text\/event-stream\b/i.test(request.headers.accept ?? '')) return;
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
  }

  cut(): void {
    for (const response of this.#responses) response.destroy();
  }
}
