import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Reaper } from '../../../test/support/reaper.ts';

export interface CopyOptions {
  readonly label: string;
  readonly port: number;
  readonly connectionString: string;
  /** What Node is started with. */
  readonly args: readonly string[];
  readonly reaper: Reaper;
  readonly print: (line: string) => void;
  /** Beside those of this process. @default none */
  readonly env?: Readonly<Record<string, string>>;
}

/** One copy of an example, in a process of its own, which may be started again. */
export class Copy {
  readonly #options: CopyOptions;
  #process: ChildProcess | null = null;
  #gone: Promise<unknown> = Promise.resolve();
  #ending = '';

  constructor(options: CopyOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#process !== null;
  }

  /** How the last process ended. */
  get ending(): string {
    return this.#ending;
  }

  /** Answers with the address that it listens on, or null when it ended before. */
  start(): Promise<string | null> {
    const { label, port, connectionString, args, reaper, print } = this.#options;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const { promise: gone, resolve: go } = Promise.withResolvers<void>();
    const env = { ...process.env, ...this.#options.env, DATABASE_URL: connectionString, COPY: label, PORT: String(port) };
    // A process group of its own: a Ctrl-C in the terminal is for the runner, which then stops its copies.
    const child = spawn(process.execPath, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    reaper.watch(child);
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        print(`${label} │ ${line}`);
        const origin = / listens on (http:\S+)$/.exec(line)?.[1];
        if (origin !== undefined) resolve(origin);
      });
    }
    child.once('close', (code, signal) => {
      this.#ending = signal ?? `exit code ${code}`;
      print(`${label} is gone (${this.#ending})`);
      this.#process = null;
      resolve(null);
      go();
    });
    this.#process = child;
    this.#gone = gone;
    return promise;
  }

  /** SIGTERM asks it to end by itself, as a deploy does; SIGKILL is a crash. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#process?.kill(signal);
    await this.#gone;
  }
}
