/** Looks at the deadline, and aborts the signal when that has passed. */
const END_IF_LAPSED = Symbol('endIfLapsed');

interface TermSignal extends AbortSignal {
  [END_IF_LAPSED](): void;
}

function look(signal: TermSignal, property: 'aborted' | 'reason'): unknown {
  signal[END_IF_LAPSED]();
  return Reflect.get(AbortSignal.prototype, property, signal);
}

/**
 * Shared by all these signals. An accessor of each signal's own would be part of its hidden class, which lives in the old generation:
 * it would keep what the signal is about, such as the rows of a claim, until the whole heap is collected.
 */
const prototype: object = Object.create(AbortSignal.prototype, {
  aborted: {
    get(this: TermSignal) {
      return look(this, 'aborted');
    },
  },
  reason: {
    get(this: TermSignal) {
      return look(this, 'reason');
    },
  },
  throwIfAborted: {
    value(this: TermSignal): void {
      this[END_IF_LAPSED]();
      AbortSignal.prototype.throwIfAborted.call(this);
    },
  },
});

/**
 * An AbortSignal whose `aborted` is as true as the clock.
 *
 * A plain signal is aborted by a timer. After a freeze or a blocked event loop, code that runs *before* the timers would
 * still read `aborted === false` and go on with work that is no longer its own. This one looks at the deadline whenever
 * it is asked, and aborts itself first when that has passed.
 */
export function createTermSignal({ signal }: AbortController, endIfLapsed: () => void): AbortSignal {
  Object.defineProperty(signal, END_IF_LAPSED, { value: endIfLapsed });
  return Object.setPrototypeOf(signal, prototype) as AbortSignal;
}
