import { LeaseholdError, showValue } from './errors.ts';

/**
 * Checks an advertised address: an http(s) origin and nothing else, since the path of a forwarded request is the
 * client's own and credentials in a row would be readable by every user of the database.
 *
 * @returns the origin, without a trailing slash.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_ADDRESS
 */
export function resolveAddress(option: string, value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  const problem = url === null ? 'is not a URL' : findProblem(url);
  if (problem !== null || url === null) {
    throw new LeaseholdError(
      'LEASEHOLD_INVALID_ADDRESS',
      `${option} is ${url?.password ? 'a URL with a password' : showValue(value)}, which ${problem}; give an origin such as 'https://app-03.internal:8443'.`,
      { option },
    );
  }
  return url.origin;
}

function findProblem(url: URL): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is not http or https';
  if (url.username !== '' || url.password !== '') return 'carries credentials';
  if (url.pathname !== '/') return 'has a path';
  if (url.search !== '' || url.hash !== '') return 'has a query or a fragment';
  return null;
}
