/**
 * One spelling for all spellings of a path that some router takes for the same: percent-encoded letters (find-my-way
 * decodes them before it routes), another case (Express ignores it by default), `//` and dot segments and backslashes
 * (`new URL()` folds them). A request that reached the local route by such a spelling would run on a non-holder, so
 * matching errs to the side of the holder, where the same application answers anyway.
 */
export function canonicalPath(target: string): string {
  const segments: string[] = [];
  const path = decodeHarmless(target.slice(0, pathEnd(target)));
  const trailing = path.endsWith('/') ? '/' : '';
  for (const segment of path.toLowerCase().split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') segments.pop();
    else segments.push(segment);
  }
  return segments.length === 0 ? '/' : `/${segments.join('/')}${trailing}`;
}

function pathEnd(target: string): number {
  for (let i = 0; i < target.length; i++) {
    const code = target.charCodeAt(i);
    if (code === 0x3f || code === 0x23) return i;
  }
  return target.length;
}

/** Decodes what may stand in a path as itself; encodes bytes above ASCII; turns a backslash into a slash. */
function decodeHarmless(path: string): string {
  return path
    .replace(/%[0-9a-f]{2}/gi, (triplet) => {
      const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
      return /[!-~]/.test(character) && !'/?#%;\\'.includes(character) ? character : triplet;
    })
    .replace(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
    .replaceAll('\\', '/');
}
