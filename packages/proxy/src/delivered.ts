import type { ClientSide } from './exchange-context.ts';
import { http2Stream, wasAborted } from './http2.ts';

/** Whether a client whose connection closed had got the whole answer by then. */
export function isDelivered({ request, response }: ClientSide): boolean {
  const stream = http2Stream(response);
  if (stream !== undefined) return !wasAborted(stream);
  // In Node 22 a response counts as finished when its socket was destroyed with bytes of it still to send.
  return response.writableFinished && !request.socket.destroyed;
}
