import { constants } from 'node:os';
import { readArguments, type ShowArguments, usageOf } from './arguments.ts';

/** Plays it with the exit code, and leaves no process and no file behind, however it ends. */
export type Play = (options: ShowArguments, signal: AbortSignal) => Promise<number>;

/**
 * The whole of a main program: arguments, signals and the exit code.
 *
 * @param script what was run, such as `demo`
 */
export async function playFromTerminal(script: string, play: Play): Promise<void> {
  const options = read(script);
  if (options === null) {
    process.exitCode = 1;
    return;
  }
  const interruption = listen();
  try {
    process.exitCode = await play(options, interruption.signal);
  } catch (error) {
    process.exitCode = 1;
    if (interruption.code !== null) process.stderr.write('interrupted; nothing is left running\n');
    else if (!interruption.signal.aborted) process.stderr.write(`${script}: FAILED: ${(error as Error).message}\n`);
  }
  if (interruption.code !== null) process.exitCode = interruption.code;
}

/** A mistake in the arguments is answered with what they may be. */
function read(script: string): ShowArguments | null {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usageOf(script)}\n`);
    return null;
  }
}

interface Interruption {
  readonly signal: AbortSignal;
  /** What the process exits with when a signal ended it. */
  readonly code: number | null;
}

function listen(): Interruption {
  const interrupted = new AbortController();
  const interruption: { signal: AbortSignal; code: number | null } = { signal: interrupted.signal, code: null };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      interruption.code = 128 + constants.signals[signal];
      interrupted.abort();
    });
  }
  // Whoever reads along has left (`| head`).
  process.stdout.on('error', () => interrupted.abort());
  // A package manager that is told to end does not always pass it on: then this process has another parent all at once.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && interrupted.abort(), 500).unref();
  return interruption;
}
