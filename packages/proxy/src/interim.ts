import type { ClientSide } from './exchange-context.ts';
import { buildInterimHead, type InterimAnswer, interimFields } from './headers/interim-head.ts';
import { http2Stream, sendInterim } from './http2.ts';

/** Passes a 1xx answer on, unless the client could not take it for what it is. */
export function passInterimOn(answer: InterimAnswer, { request, response, awaitsContinue }: ClientSide): void {
  if (response.headersSent || response.socket === null || request.httpVersion === '1.0') return;
  const stream = http2Stream(response);
  if (answer.statusCode === 100) {
    if (awaitsContinue) response.writeContinue();
  } else if (stream === undefined) {
    response.socket.write(buildInterimHead(answer), 'latin1');
  } else {
    sendInterim(stream, answer.statusCode, interimFields(answer));
  }
}
