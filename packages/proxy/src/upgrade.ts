import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { publishRejection } from './answer.ts';
import { buildProblem, type ProblemContext, type Refusal } from './problem.ts';

/** How long a client may keep the connection open after the answer. */
const LINGER_MS = 3_000;

/**
 * Answers an upgrade with a problem. On an upgraded connection nobody but this function looks after the socket: without
 * an answer the client would see a silent end, without a listener its reset would end the process, and without a limit
 * a client that never closes would keep the socket.
 */
export function refuseUpgrade(refusal: Refusal, context: ProblemContext, on: { request: IncomingMessage; socket: Duplex }): void {
  const { request, socket } = on;
  publishRejection(refusal, context, request.method);
  const problem = buildProblem(refusal, context);
  let head = `HTTP/1.1 ${problem.status} ${problem.statusText}\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\n`;
  for (let i = 0; i < problem.fields.length; i += 2) head += `${problem.fields[i]}: ${problem.fields[i + 1]}\r\n`;
  socket.on('error', ignore);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.on('close', () => clearTimeout(timer));
  const body = request.method === 'HEAD' ? Buffer.alloc(0) : problem.body;
  socket.end(Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), body]));
}

function ignore(): void {}
