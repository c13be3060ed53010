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

/** Sends a 1xx answer; fields of the same name go as one list. */
export function sendInterim(stream: ServerHttp2Stream, status: number, fields: readonly string[]): void {
  const headers: Record<string, string[]> = {};
  for (let i = 0; i < fields.length; i += 2) (headers[(fields[i] as string).toLowerCase()] ??= []).push(fields[i + 1] as string);
  stream.additionalHeaders({ ':status': status, ...headers });
}
