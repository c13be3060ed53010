import type { Clock } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import type { StoreCall } from './lease-store.ts';

export interface CallOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** For the message: what the call was for. */
  readonly what: string;
  /** Gives the call up before its deadline. */
  readonly cancel?: AbortSignal;
}

/**
 * Calls the store, and waits no longer than the deadline even for a store that never answers. What was given up may
 * still take effect in the store; its answer is never looked at.
 *
 * @throws {LeaseholdError} LEASEHOLD_STORE_TIMEOUT; else the reason of `cancel`, or whatever the store rejects with.
 */
export async function callStore<T>(options: CallOptions, call: (limits: StoreCall) => Promise<T>): Promise<T> {
  const { clock, timeoutMs, what, cancel } = options;
  const controller = new AbortController();
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const giveUp = (reason: unknown): void => {
    reject(reason);
    controller.abort(reason);
  };
  const onCancel = (): void => giveUp(cancel?.reason);
  const timer = clock.setTimer(() => giveUp(timeout(what, timeoutMs)), timeoutMs);
  cancel?.addEventListener('abort', onCancel, { once: true });
  try {
    return await Promise.race([call({ timeoutMs, signal: controller.signal }), givenUp]);
  } catch (error) {
    // A rejection without a reason must not be taken for the absence of an error.
    throw error ?? new LeaseholdError('LEASEHOLD_STORE_UNAVAILABLE', `the store rejected a ${what} without a reason.`);
  } finally {
    timer.cancel();
    cancel?.removeEventListener('abort', onCancel);
  }
}

function timeout(what: string, timeoutMs: number): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_STORE_TIMEOUT',
    `the store did not answer a ${what} within ${Math.round(timeoutMs)} ms; it was given up.`,
  );
}
