import { isLeaseholdError, type LeaseholdErrorCode } from '../../packages/core/src/errors.ts';

/** The code that the promise rejects with; undefined where it does not, or with another error. */
export async function codeOf(promise: PromiseLike<unknown>): Promise<LeaseholdErrorCode | undefined> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return isLeaseholdError(error) ? error.code : undefined;
}
