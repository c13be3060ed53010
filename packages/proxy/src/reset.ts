import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Tells when an answer that only the end of its connection ends was broken off by a reset. In Node 22 a reset that comes
 * together with the last bytes looks like an end: no error is emitted, and the answer counts as complete. It is told
 * before the answer's `end`.
 */
export function whenReset(answer: IncomingMessage, tell: (error: Error) => void): void {
  const { socket } = answer;
  // Before Node's own listener: that one makes the answer complete and the socket unwritable.
  socket.prependOnceListener('end', () => {
    if (answer.complete) return;
    if ('encrypted' in socket) lookForPeer(socket, tell);
    else writeNothing(socket, tell);
  });
}

/**
 * A write of nothing puts nothing on the wire, and still meets the error that the kernel keeps. A holder that closed in
 * order and then met more of an upload is no reset (the kernel says EPIPE): it sent all it had.
 */
function writeNothing(socket: Socket, tell: (error: Error) => void): void {
  socket.write('', (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET') tell(error);
  });
}

/** TLS does not pass such an error on in time. But a connection that was reset has no peer any more; in doubt, it was. */
function lookForPeer(socket: Socket, tell: (error: Error) => void): void {
  if (socket.remoteAddress === undefined) tell(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
}
