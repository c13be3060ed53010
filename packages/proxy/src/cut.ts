import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { http2Stream, resetStream } from './http2.ts';

/**
 * Breaks the client's connection off in the middle of an answer, so that what it got cannot be taken for the whole. An
 * answer that ends with its connection needs a reset for that: it has no length and no last chunk to be missed.
 */
export function cutOff(response: ServerResponse, endsWithConnection: boolean): void {
  const stream = http2Stream(response);
  if (stream !== undefined) {
    resetStream(stream);
    return;
  }
  const { socket } = response;
  // A pipelined answer has no socket before its turn; the answer in front of it shall not suffer.
  if (socket === null) response.once('socket', (later: Socket) => destroy(later, endsWithConnection));
  else destroy(socket, endsWithConnection);
}

function destroy(socket: Socket, withReset: boolean): void {
  if (withReset && !('encrypted' in socket)) socket.resetAndDestroy();
  else socket.destroy();
}
