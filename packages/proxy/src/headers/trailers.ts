import { type OutgoingMessage, validateHeaderValue } from 'node:http';
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
  if ('setTrailer' in to) setTrailers(pairs, to as SetsTrailers);
  else to.addTrailers(pairs);
}

/** The response of HTTP/2, whose `addTrailers` takes no list of pairs. */
interface SetsTrailers {
  setTrailer(name: string, value: string | readonly string[]): void;
}

function setTrailers(pairs: readonly [string, string][], to: SetsTrailers): void {
  for (const [name] of pairs) {
    const values = pairs.filter(([other]) => other.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
    to.setTrailer(name, values);
  }
}

function isWritable(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
