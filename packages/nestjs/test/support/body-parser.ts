import type { IncomingMessage } from 'node:http';

/** Middleware that reads the body, as a body parser does. */
export function readBody(request: IncomingMessage, _response: unknown, next: () => void): void {
  request.on('end', next).resume();
}
