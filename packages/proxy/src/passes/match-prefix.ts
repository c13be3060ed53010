import { canonicalPath } from '../canonical-path.ts';

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
  if (target.charCodeAt(0) !== SLASH) return isAbsoluteFormUnderPrefix(target, prefixes);
  return startsWithAny(target, prefixes) || (isUnusual(target) && startsWithAny(canonicalPath(target), prefixes));
}

/** `GET http://host/path`: routers read the path out of it. `*` and an authority have no path. */
function isAbsoluteFormUnderPrefix(target: string, prefixes: readonly string[]): boolean {
  const scheme = target.indexOf('://');
  if (scheme === -1) return false;
  let start = scheme + 3;
  while (start < target.length && !isPathStart(target.charCodeAt(start))) start++;
  const path = target.slice(start);
  return startsWithAny(canonicalPath(path.startsWith('/') ? path : `/${path}`), prefixes);
}

function isPathStart(code: number): boolean {
  return code === SLASH || code === QUESTION || code === HASH || code === 0x5c;
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

/** Whether the path holds what {@link canonicalPath} would change, apart from case. */
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
