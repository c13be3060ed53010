/** Bytes above ASCII, as they stand in a request target. */
const RAW_BYTES = /[\u0080-\u00ff]/g;
const ENCODED_BYTES = /(?:%[89a-f][0-9a-f])+/gi;

/**
 * One spelling for each character of a path: percent-encoded where it cannot stand as itself, and in lower case, as a router
 * may ignore case by the rules of Unicode (Express does by default, find-my-way by an option). Segments stay as they are.
 */
export function canonicalText(path: string): string {
  return path
    .replace(/%[0-9a-f]{2}/gi, decodeHarmless)
    .replace(RAW_BYTES, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
    .replace(ENCODED_BYTES, foldCase)
    .toLowerCase();
}

/** Decodes what may stand in a path as itself. */
function decodeHarmless(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
  return /[!-~]/.test(character) && !'/?#%;\\'.includes(character) ? character : triplet;
}

/** Some letters above ASCII have their lower case in it: the Kelvin sign is a `k`. The sigma has two. */
function foldCase(bytes: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(bytes).toLowerCase().replaceAll('ς', 'σ'));
  } catch {
    return bytes;
  }
}
