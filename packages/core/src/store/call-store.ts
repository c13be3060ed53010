import type { Clock } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import type { StoreCall } from './lease-store.ts';

export interface CallOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** For the message: what the call was for. */
  readonly what: string;
}

/**
 * Calls the store, and waits no longer than the deadline even for a store that never answers. What was given up may
 * still take effect in the store; its answer is never looked at.
 *
 * @throws {LeaseholdError} LEASEHOLD_STORE_TIMEOUT; else whatever the store rejects with.
 */
export async function callStore<T>(options: CallOptions, call: (limits: StoreCall) => Promise<T>): Promise<T> {
  const { clock, timeoutMs, what } = options;
  const controller = new AbortController();
  const { promise: deadline, reject } = Promise.withResolvers<never>();
  const timer = clock.setTimer(() => {
    const error = new LeaseholdError(
      'LEASEHOLD_STORE_TIMEOUT',
      `the store did not answer a ${what} within ${Math.round(timeoutMs)} ms; it was given up.`,
    );
    reject(error);
    controller.abort(error);
  }, timeoutMs);
  try {
    return await Promise.race([call({ timeoutMs, signal: controller.signal }), deadline]);
  } finally {
    timer.cancel();
  }
}
