import { type Clock, delay } from '../clock.ts';

/** Work that repeats until it is stopped, or the Leasehold is. */
export interface RepeatedWork extends AsyncDisposable {
  /** Starts no further cycle and waits for the one that runs. */
  stop(): Promise<void>;
}

export interface RepeatOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly cycle: () => Promise<unknown>;
  readonly onError: (error: unknown) => void;
  readonly onStop: () => void;
}

/** Runs cycles one after another, never two at once. */
export function repeat(options: RepeatOptions): RepeatedWork {
  const controller = new AbortController();
  const ended = run(options, controller.signal);
  const stop = (): Promise<void> => {
    controller.abort();
    options.onStop();
    return ended;
  };
  return { stop, [Symbol.asyncDispose]: stop };
}

async function run({ clock, intervalMs, cycle, onError }: RepeatOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const startedAt = clock.monotonic();
    try {
      await cycle();
    } catch (error) {
      onError(error);
    }
    await delay(clock, Math.max(0, startedAt + intervalMs - clock.monotonic()), signal);
  }
}
