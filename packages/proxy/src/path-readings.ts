import { canonicalText } from './canonical-path.ts';

/**
 * The paths that some router takes a request target for, each as its segments. Routers do not agree: `new URL()` takes what
 * follows `//` for a host, so does Express where the target holds a `#` or an `@`; a backslash is a slash or is not; empty
 * segments count or do not.
 */
export function readingsOf(target: string): readonly (readonly string[])[] {
  return pathsIn(target).flatMap(charactersIn).map(canonicalText).flatMap(slashesIn).flatMap(segmentsIn);
}

/** Where the path begins: after an authority, or what one router or another takes for one. Query and fragment are cut off. */
function pathsIn(target: string): string[] {
  if (target.startsWith('/')) return /^\/[/\\]/.test(target) ? [cut(target), afterHost(target)] : [cut(target)];
  const scheme = target.indexOf('://');
  // The find-my-way of older Fastify skips the first character unseen: `*x` is `/x`.
  if (scheme === -1) return [cut(target.slice(1))];
  const rest = target.slice(scheme + 3);
  // And there the first slash begins the path, even one in the query.
  return [cut(rest.replace(/^[^/?#\\]*/, '')), afterHost(rest), cut(rest.replace(/^[^/]*/, ''))];
}

/** `new URL()` takes any number of slashes for the two in front of a host. */
function afterHost(text: string): string {
  return cut(text.replace(/^[/\\]*[^/?#\\]*/, ''));
}

function cut(text: string): string {
  return text.replace(/[?#].*$/s, '');
}

/** Bytes above ASCII are UTF-8, or characters by themselves (latin-1). */
function charactersIn(path: string): string[] {
  const asLatin1 = path.replace(/[\u0080-\u00ff]+/g, encodeURIComponent);
  return asLatin1 === path ? [path] : [path, asLatin1];
}

function slashesIn(path: string): string[] {
  return path.includes('\\') ? [path, path.replaceAll('\\', '/')] : [path];
}

/** Whether empty segments count shows only where a parent segment may take one away. */
function segmentsIn(path: string): string[][] {
  const segments = (path.startsWith('/') ? path.slice(1) : path).split('/');
  const named = segments.filter((segment) => segment !== '');
  return named.length < segments.length && named.includes('..') ? [segments, named] : [named];
}

/**
 * Whether a path is a prefix or below it, at its end or on its way there: of `/a/../b` one router makes `/b`, and another
 * finds what `/a` has for every path below it.
 */
export function leadsUnder(segments: readonly string[], prefix: readonly string[]): boolean {
  if (prefix.length === 0) return true;
  const reached: string[] = [];
  for (const segment of segments) {
    if (segment === '.') continue;
    if (segment === '..') reached.pop();
    else if (reached.push(segment) === prefix.length && prefix.every((name, i) => isSameSegment(reached[i] as string, name)))
      return true;
  }
  return false;
}

/** A `;` may begin parameters, or the query. */
function isSameSegment(segment: string, name: string): boolean {
  return segment === name || segment.startsWith(`${name};`);
}
