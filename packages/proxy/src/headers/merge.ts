import { ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import { http2Stream } from '../http2.ts';

/** Fields that hooks of this instance set for the answer, such as CORS fields: by name, in any case. */
export type LocalFields = Readonly<Record<string, number | string | readonly string[] | undefined>>;

/** They describe a body or a connection, and this instance's guess about the holder's body is wrong. */
const NEVER_MERGED: ReadonlySet<string> = new Set([
  'content-length',
  'content-type',
  'content-encoding',
  'content-language',
  'content-range',
  'content-location',
  'content-disposition',
  'etag',
  'last-modified',
  'transfer-encoding',
  'trailer',
]);

const APPENDED: ReadonlySet<string> = new Set(['set-cookie', 'vary']);

/**
 * Whether `writeHead` with raw fields is safe: middleware that replaced it (express-session, compression and others by
 * way of on-headers) may read an array as pairs, and fields that were set before have to be merged.
 */
export function isUntouched(response: ServerResponse): boolean {
  return response.writeHead === ServerResponse.prototype.writeHead && response.getHeaderNames().length === 0;
}

/** Puts the holder's fields on a response that has fields already: the holder's win, `Set-Cookie` and `Vary` add up. */
export function mergeFields(response: ServerResponse, fields: readonly string[]): void {
  for (const name of response.getHeaderNames()) {
    if (NEVER_MERGED.has(name)) response.removeHeader(name);
  }
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string;
    if (!APPENDED.has(name.toLowerCase()) && response.hasHeader(name)) response.removeHeader(name);
  }
  for (let i = 0; i < fields.length; i += 2) appendField(response, fields[i] as string, fields[i + 1] as string);
}

/** Puts fields of this instance on the response before the holder's are merged. */
export function setLocalFields(response: ServerResponse, local: LocalFields): void {
  for (const [name, value] of Object.entries(local)) {
    if (value === undefined || NEVER_MERGED.has(name.toLowerCase()) || !isWritable(name, value)) continue;
    response.setHeader(name, typeof value === 'number' ? String(value) : value);
  }
}

/** A framework that keeps fields by itself has not looked at them; Node would throw, where nobody would catch it. */
function isWritable(name: string, value: number | string | readonly string[]): boolean {
  try {
    validateHeaderName(name);
    for (const each of [value].flat()) validateHeaderValue(name, String(each));
    return true;
  } catch {
    return false;
  }
}

function appendField(response: ServerResponse, name: string, value: string): void {
  if (name.toLowerCase() === 'vary' && variesBy(response, value)) return;
  if (http2Stream(response) === undefined || name.toLowerCase() === 'set-cookie') response.appendHeader(name, value);
  // As one list: Node throws at a second `ETag` and the like there.
  else response.setHeader(name, response.hasHeader(name) ? `${String(response.getHeader(name))}, ${value}` : value);
}

/** The same application set the same `Vary: Origin` on both instances. */
function variesBy(response: ServerResponse, value: string): boolean {
  const present = String(response.getHeader('vary') ?? '').toLowerCase();
  const names = new Set(present.split(',').map((name) => name.trim()));
  return value.split(',').every((name) => names.has(name.trim().toLowerCase()));
}
