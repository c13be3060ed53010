import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Command, Ready } from '../worker/commands.ts';
import type { Reaper } from '../../../support/reaper.ts';

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether the lab had told it to go. */
  readonly asked: boolean;
}

/** The one argument of a worker program, as JSON: this, and what else the program wants to know. */
export interface ProcessConfig {
  readonly label: string;
  readonly logFile: string;
}

export interface Program {
  readonly file: string;
  readonly reaper: Reaper;
}

/** One run of a worker program. */
export class WorkerProcess {
  readonly label: string;
  /** Settles when it competes; undefined when it ended before that. */
  readonly ready: Promise<string | undefined>;
  readonly exited: Promise<WorkerExit>;
  readonly #child: ChildProcess;
  #asked = false;
  #instance: string | null = null;

  constructor(config: ProcessConfig, { file, reaper }: Program) {
    this.label = config.label;
    const errors = openSync(config.logFile.replace(/\.jsonl$/, '.err'), 'a');
    this.#child = fork(file, [JSON.stringify(config)], {
      execArgv: ['--conditions=@leasehold/source'],
      stdio: ['ignore', errors, errors, 'ipc'],
    });
    closeSync(errors);
    reaper.watch(this.#child);
    // A message to a process that is just ending fails here.
    this.#child.on('error', () => {});
    this.exited = once(this.#child, 'exit').then(([code, signal]) => ({ code, signal, asked: this.#asked }));
    const said = once(this.#child, 'message').then(([message]) => (this.#instance = (message as Ready).ready));
    this.ready = Promise.race([said, this.exited.then(() => undefined)]);
  }

  /** Null until it competes. */
  get instance(): string | null {
    return this.#instance;
  }

  tell(command: Command): void {
    if (this.#child.connected) this.#child.send(command);
  }

  kill(): Promise<WorkerExit> {
    return this.#end('SIGKILL');
  }

  /** Asks it to stop, as a deploy does. */
  stop(): Promise<WorkerExit> {
    return this.#end('SIGTERM');
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  #end(signal: NodeJS.Signals): Promise<WorkerExit> {
    this.#asked = true;
    this.#child.kill(signal);
    return this.exited;
  }
}
