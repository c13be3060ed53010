import type { IncomingMessage } from 'node:http';
import type { RefuseDecision } from '../decision.ts';
import { findField } from '../headers/field-names.ts';
import { isChunked } from '../headers/transfer-coding.ts';
import { http2Stream } from '../http2.ts';
import { refuse } from '../refusal.ts';

/**
 * Node keeps 2,000 names and values of a head; older versions leave the rest out in silence, framing among it. The
 * holder's parser must not come to that limit by the fields that are added here.
 */
const RAW_FIELDS_LIMIT = 1_980;

/** Whether the request can be passed on as what it is. */
export function checkRequest(request: IncomingMessage): RefuseDecision | undefined {
  const { rawHeaders } = request;
  if (rawHeaders.length >= RAW_FIELDS_LIMIT) return refuse('too-many-header-fields');
  const coding = findField(rawHeaders, 'transfer-encoding');
  if (coding !== -1 && !isChunkedAlone(rawHeaders, coding)) return refuse('unsupported-transfer-encoding');
  if (wasRead(request) && hasBody(request)) return refuse('body-already-read');
  return undefined;
}

/** Node takes off `chunked` alone: what `gzip, chunked` leaves is still gzip, and would be passed on without its label. */
function isChunkedAlone(rawHeaders: readonly string[], index: number): boolean {
  return isChunked(rawHeaders[index + 1] as string) && findField(rawHeaders, 'transfer-encoding', index + 2) === -1;
}

export function hasBody(request: IncomingMessage): boolean {
  const { rawHeaders } = request;
  if (http2Stream(request)?.endAfterHeaders === false) return true;
  if (findField(rawHeaders, 'transfer-encoding') !== -1) return true;
  const index = findField(rawHeaders, 'content-length');
  return index !== -1 && rawHeaders[index + 1] !== '0';
}

/** Bytes that a parser took are gone, and bytes decoded as text are not the client's bytes any more. */
function wasRead(request: IncomingMessage): boolean {
  return request.readableDidRead || request.readableEncoding !== null;
}
