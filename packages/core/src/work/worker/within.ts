import type { Clock } from '../../clock.ts';
import { LeaseholdError } from '../../errors.ts';

export interface WithinOptions<T> {
  readonly clock: Clock;
  readonly ms: number;
  readonly what: string;
  /** Takes what came after all. */
  readonly onLate: (value: T) => void;
}

/**
 * What `promise` resolves to, but not later: a driver's promise may never settle, and the loop would wait with it.
 *
 * @throws {LeaseholdError} LEASEHOLD_STORE_TIMEOUT
 */
export async function within<T>(promise: Promise<T>, { clock, ms, what, onLate }: WithinOptions<T>): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  let givenUp = false;
  const timer = clock.setTimer(() => {
    givenUp = true;
    reject(new LeaseholdError('LEASEHOLD_STORE_TIMEOUT', `${what} had no answer within ${ms} ms and was given up.`));
  }, ms);
  const whenLate = (value: T): void => (givenUp ? onLate(value) : undefined);
  promise.then(whenLate, () => {});
  try {
    return await Promise.race([promise, over]);
  } finally {
    timer.cancel();
  }
}
