import type { LeaseholdErrorCode, LeaseholdErrorDetails } from '@leasehold/core';

/**
 * A LeaseholdError, loaded only when there is one to throw: a server is often started by the global set-up of a test
 * runner, which may resolve packages by other conditions than the tests, and must then still say what is wrong.
 */
export async function misuse(code: LeaseholdErrorCode, message: string, details: LeaseholdErrorDetails = {}): Promise<Error> {
  const core = await import('@leasehold/core').catch(() => undefined);
  return core === undefined ? new Error(`${code}: ${message}`) : new core.LeaseholdError(code, message, details);
}
