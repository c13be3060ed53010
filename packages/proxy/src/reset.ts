import type { IncomingMessage } from 'node:http';

/**
 * Tells when an answer that only the end of its connection ends was broken off by a reset. In Node 22 a reset that comes
 * together with the last bytes looks like an end: no error is emitted, and the answer counts as complete. A write of
 * nothing puts nothing on the wire, and still meets the error that the kernel keeps. It is known before the answer's `end`.
 */
export function whenReset(answer: IncomingMessage, tell: (error: Error) => void): void {
  const { socket } = answer;
  // Before Node's own listener: that one makes the answer complete and the socket unwritable.
  socket.prependOnceListener('end', () => {
    if (answer.complete) return;
    socket.write('', (error) => {
      if (isReset(error)) tell(error);
    });
  });
}

/** A holder that closed in order and then met more of an upload is no reset (the kernel says EPIPE): it sent all it had. */
function isReset(error: Error | null | undefined): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}
