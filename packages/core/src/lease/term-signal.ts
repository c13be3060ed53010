/**
 * An AbortSignal whose `aborted` is as true as the clock.
 *
 * A plain signal is aborted by a timer. After a freeze or a blocked event loop, code that runs *before* the timers would
 * still read `aborted === false` and go on with work that is no longer its own. This one looks at the deadline whenever
 * it is asked, and aborts itself first when that has passed.
 */
export function createTermSignal(controller: AbortController, endIfLapsed: () => void): AbortSignal {
  const { signal } = controller;
  const prototype = Object.getPrototypeOf(signal) as object;
  const readAborted = Object.getOwnPropertyDescriptor(prototype, 'aborted')?.get;
  const readReason = Object.getOwnPropertyDescriptor(prototype, 'reason')?.get;
  return Object.defineProperties(signal, {
    aborted: { get: () => (endIfLapsed(), readAborted?.call(signal) as boolean) },
    reason: { get: () => (endIfLapsed(), readReason?.call(signal) as unknown) },
    throwIfAborted: {
      value: () => {
        endIfLapsed();
        AbortSignal.prototype.throwIfAborted.call(signal);
      },
    },
  });
}
