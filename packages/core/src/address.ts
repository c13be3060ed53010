import { LeaseholdError, showValue } from './errors.ts';

/** What a URL parser would silently repair or ignore, so that the text and the address would be two different things. */
const UNWANTED_CHARACTERS = /[\s\p{Cc}\\?#]/u;

const WILDCARD_HOSTS: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);

/**
 * Checks an advertised address: an http(s) origin and nothing else, since the path of a forwarded request is the
 * client's own and credentials in a row would be readable by every user of the database.
 *
 * @returns the origin in its one canonical form (lower case, no default port, no trailing slash), so that two addresses
 * may be compared as text.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_ADDRESS when it is anything else, or a host that no other machine can reach.
 */
export function resolveAddress(option: string, value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  const problem = url === null ? 'is not a URL' : findProblem(url, value as string);
  if (problem !== null || url === null) {
    throw new LeaseholdError(
      'LEASEHOLD_INVALID_ADDRESS',
      `${option} is ${showAddress(url, value)}, which ${problem}; give an origin such as 'https://app-03.internal:8443'.`,
      { option },
    );
  }
  return url.origin;
}

function findProblem(url: URL, text: string): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is not http or https';
  if (text.includes('@')) return 'carries credentials';
  if (UNWANTED_CHARACTERS.test(text)) return 'has a query, a fragment, a backslash or white space';
  if (!/^https?:\/\/[^/]/i.test(text)) return 'is not of the form scheme://host';
  if (url.pathname !== '/') return 'has a path';
  if (url.port === '0') return 'has port 0';
  if (WILDCARD_HOSTS.has(url.hostname)) return 'is an address to listen on, not one to connect to';
  return null;
}

/** A password given by mistake must not travel on into a log. */
function showAddress(url: URL | null, value: unknown): string {
  const secret = typeof value === 'string' && value.includes('@') && (url === null || url.username !== '' || url.password !== '');
  return secret ? 'a URL with credentials' : showValue(value);
}
