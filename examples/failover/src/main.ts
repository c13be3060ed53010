import { constants } from 'node:os';
import { type DemoArguments, readArguments, USAGE } from './demo/arguments.ts';
import { runDemo } from './demo/run.ts';

const interrupted = new AbortController();
let code = 1;
let bySignal = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    code = 128 + constants.signals[signal];
    bySignal = true;
    interrupted.abort();
  });
}
// Whoever reads along has left (`| head`).
process.stdout.on('error', () => interrupted.abort());

// A package manager that is told to end does not always pass it on: then the demo has another parent all at once.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && interrupted.abort(), 500).unref();

/** A mistake in the arguments is answered with what they may be. */
function read(): DemoArguments | null {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}\n`);
    return null;
  }
}

const options = read();
try {
  if (options !== null) code = await runDemo(options, interrupted.signal);
} catch (error) {
  if (bySignal) process.stderr.write('interrupted; nothing is left running\n');
  else if (!interrupted.signal.aborted) process.stderr.write(`demo: FAILED: ${(error as Error).message}\n`);
}
process.exitCode = code;
