import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Stream } from 'node:http2';

/** A request of either version; the compatibility API of `node:http2` gives the second. */
export type AnyRequest = IncomingMessage | Http2ServerRequest;
/** Its response. */
export type AnyResponse = ServerResponse | Http2ServerResponse;

/** The stream of an HTTP/2 request or response; undefined for HTTP/1. */
export function http2Stream(message: IncomingMessage | ServerResponse): ServerHttp2Stream | undefined {
  return (message as { readonly stream?: ServerHttp2Stream }).stream;
}

/** The response of a client that may be gone has a state of its own: what it reports as finished may have been aborted. */
export function wasAborted(stream: ServerHttp2Stream): boolean {
  return stream.aborted || (stream.rstCode ?? constants.NGHTTP2_NO_ERROR) !== constants.NGHTTP2_NO_ERROR;
}

/** Ends this answer, and none of the others on the connection, so that it cannot be taken for the whole. */
export function resetStream(stream: ServerHttp2Stream): void {
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Sends a 1xx answer, unless its stream is over. */
export function sendInterim(stream: ServerHttp2Stream, status: number, fields: readonly string[]): void {
  if (stream.destroyed || stream.closed) return;
  const pairs: [string, string][] = [];
  for (let i = 0; i < fields.length; i += 2) pairs.push([fields[i] as string, fields[i + 1] as string]);
  stream.additionalHeaders({ ':status': status, ...Object.fromEntries(combineFields(pairs)) });
}

/** Fields of one name as one list: Node throws at a second `ETag` and the like, where nobody would catch it. */
export function combineFields(pairs: readonly (readonly [string, string])[]): Map<string, string | string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const ofName = values.get(name.toLowerCase());
    if (ofName === undefined) values.set(name.toLowerCase(), [value]);
    else ofName.push(value);
  }
  return new Map(Array.from(values, ([name, list]) => [name, name === 'set-cookie' ? list : list.join(', ')]));
}
