/** The holder of the role: the same answers for everybody, and event streams that it writes to when told. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { LARGE_BODY, PATHS, SMALL_BODY } from '../answers.ts';
import { answerCalls } from '../../support/processes/calls.ts';
import { EventStreams, type SendOrder } from './event-streams.ts';
import { listen } from './listen.ts';

const small = Buffer.from(SMALL_BODY);
const large = Buffer.from(LARGE_BODY);
const streams = new EventStreams();

function answer(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', 'Content-Length': body.length });
  response.end(body);
}

/** As large as what was sent: a proxy that lost a byte of it would be seen. */
function answerUpload(request: IncomingMessage, response: ServerResponse): void {
  let size = 0;
  request.on('data', (chunk: Buffer) => (size += chunk.length));
  request.on('end', () => answer(response, Buffer.from(`{"received":${size}}`)));
}

const server = createServer((request, response) => {
  const path = request.url ?? '';
  if (path === PATHS.small) answer(response, small);
  else if (path === PATHS.large) answer(response, large);
  else if (path === PATHS.upload) answerUpload(request, response);
  else if (path.startsWith(PATHS.events)) streams.open(path.slice(PATHS.events.length + 1), response);
  else response.writeHead(404).end();
});
const origin = await listen(server);

answerCalls({
  origin: () => origin,
  send: (order: SendOrder) => streams.send(order),
});
