/**
 * An AbortSignal whose `aborted` is as true as the clock.
 *
 * A plain signal is aborted by a timer. After a freeze or a blocked event loop, code that runs *before* the timers would
 * still read `aborted === false` and go on with work that is no longer its own. This one looks at the deadline whenever
 * it is asked, and aborts itself first when that has passed.
 */
export function createTermSignal(controller: AbortController, endIfLapsed: () => void): AbortSignal {
  const { signal } = controller;
  const read = (property: 'aborted' | 'reason'): unknown => {
    endIfLapsed();
    return Reflect.get(AbortSignal.prototype, property, signal);
  };
  const throwIfAborted = (): void => {
    endIfLapsed();
    AbortSignal.prototype.throwIfAborted.call(signal);
  };
  return Object.defineProperties(signal, {
    aborted: { get: () => read('aborted') },
    reason: { get: () => read('reason') },
    throwIfAborted: { value: throwIfAborted },
  });
}
