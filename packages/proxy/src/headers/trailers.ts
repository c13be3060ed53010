import { type OutgoingMessage, validateHeaderValue } from 'node:http';
import { combineFields } from '../http2.ts';
import { kindOf } from './field-names.ts';

/**
 * Passes trailers on, except those that may not be trailers (framing, routing, fields of one hop) and those that Node
 * would throw at. It writes them only where the message is chunked.
 */
export function passTrailersOn(rawTrailers: readonly string[], to: OutgoingMessage): void {
  if (rawTrailers.length === 0) return;
  const pairs: [string, string][] = [];
  for (let i = 0; i < rawTrailers.length; i += 2) {
    const name = rawTrailers[i] as string;
    const value = rawTrailers[i + 1] as string;
    if (kindOf(name) === undefined && isWritable(name, value)) pairs.push([name, value]);
  }
  if ('setTrailer' in to) for (const [name, value] of combineFields(pairs)) (to as SetsTrailers).setTrailer(name, value);
  else to.addTrailers(pairs);
}

/** The response of HTTP/2, whose `addTrailers` takes no list of pairs. */
interface SetsTrailers {
  setTrailer(name: string, value: string | readonly string[]): void;
}

function isWritable(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
