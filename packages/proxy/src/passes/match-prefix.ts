import { leadsUnder, readingsOf } from '../path-readings.ts';

const SLASH = 0x2f;
const QUESTION = 0x3f;
const HASH = 0x23;
const SEMICOLON = 0x3b;

/**
 * Whether the path of a request target is one of the prefixes or below it, segment by segment: `/maintenance` covers
 * `/maintenance/x` and not `/maintenance2`. Costs a compare for each prefix and a look at each character of the path;
 * nothing is allocated unless the path is spelled unusually.
 */
export function isUnderPrefix(target: string, prefixes: readonly string[]): boolean {
  if (startsWithAny(target, prefixes)) return true;
  return (target.charCodeAt(0) !== SLASH || isUnusual(target)) && isReadUnderAny(target, prefixes);
}

function isReadUnderAny(target: string, prefixes: readonly string[]): boolean {
  const readings = readingsOf(target);
  return prefixes.some((prefix) => {
    const names = prefix === '' ? [] : prefix.slice(1).split('/');
    return readings.some((segments) => leadsUnder(segments, names));
  });
}

function startsWithAny(target: string, prefixes: readonly string[]): boolean {
  for (let i = 0; i < prefixes.length; i++) {
    if (startsWithSegments(target, prefixes[i] as string)) return true;
  }
  return false;
}

function startsWithSegments(target: string, prefix: string): boolean {
  const end = prefix.length;
  for (let i = 0; i < end; i++) {
    if (lowerCase(target.charCodeAt(i)) !== prefix.charCodeAt(i)) return false;
  }
  if (target.length === end) return true;
  const next = target.charCodeAt(end);
  return next === SLASH || next === QUESTION || next === HASH || next === SEMICOLON;
}

function lowerCase(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
}

/** Whether there is more than one way to read the path, apart from case. */
function isUnusual(target: string): boolean {
  let afterSlash = false;
  for (let i = 0; i < target.length; i++) {
    const code = target.charCodeAt(i);
    if (code === QUESTION || code === HASH) return false;
    if (code === 0x25 || code === 0x5c || code > 0x7e) return true;
    if (afterSlash && (code === SLASH || code === 0x2e)) return true;
    afterSlash = code === SLASH;
  }
  return false;
}
