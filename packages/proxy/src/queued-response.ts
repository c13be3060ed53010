import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const queues = new WeakMap<Socket, Set<() => void>>();

/**
 * Tells that the client of a pipelined request left before the answer had its turn. Such a response has no socket yet,
 * and in older versions of Node it never hears of the end: its request to the holder would stay open. One listener
 * serves all responses that wait for one socket.
 */
export function whenGoneBeforeTurn({ socket }: IncomingMessage, response: ServerResponse, gone: () => void): void {
  const queue = queues.get(socket) ?? createQueue(socket);
  queue.add(gone);
  response.once('socket', () => queue.delete(gone));
}

function createQueue(socket: Socket): Set<() => void> {
  const queue = new Set<() => void>();
  queues.set(socket, queue);
  socket.once('close', () => {
    for (const gone of queue) gone();
  });
  return queue;
}
