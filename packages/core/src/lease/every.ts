import { type Clock, delay } from '../clock.ts';

/** Work that repeats until it is stopped, or the Leasehold is. */
export interface RepeatedWork extends AsyncDisposable {
  /**
   * Starts no further cycle and waits for the one that runs.
   *
   * *Gotcha:* a cycle that waits for it waits for itself, for ever. Call it there without `await`.
   */
  stop(): Promise<void>;
}

export interface RepeatOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Answers whether it ran: it does not where the role is not held. */
  readonly cycle: () => Promise<boolean>;
  /** Resolves when a term begins, or `signal` aborts. */
  readonly untilHeld: (signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** The repeated work of one role. */
export class Repeats {
  readonly #running = new Set<RepeatedWork>();

  /** Runs cycles one after another, never two at once; while the role is not held it waits for a term, not for time. */
  add(options: RepeatOptions): RepeatedWork {
    const controller = new AbortController();
    const ended = run(options, controller.signal);
    const stop = (): Promise<void> => {
      controller.abort();
      this.#running.delete(repeated);
      return ended;
    };
    const repeated = { stop, [Symbol.asyncDispose]: stop };
    this.#running.add(repeated);
    return repeated;
  }

  stop(): void {
    for (const repeated of this.#running) void repeated.stop();
  }
}

async function run(options: RepeatOptions, signal: AbortSignal): Promise<void> {
  const { clock, intervalMs, untilHeld } = options;
  let dueAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    await delay(clock, Math.max(0, dueAt - clock.monotonic()), signal);
    if (signal.aborted) return;
    const startedAt = clock.monotonic();
    if (await runOnce(options)) dueAt = startedAt + intervalMs;
    else await untilHeld(signal);
  }
}

async function runOnce({ cycle, onError }: RepeatOptions): Promise<boolean> {
  try {
    return await cycle();
  } catch (error) {
    onError(error);
    return true;
  }
}
