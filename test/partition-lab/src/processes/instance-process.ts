import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TcpProxy } from '@leasehold/testing';
import type { Reaper } from '../../../support/reaper.ts';
import type { InstanceConfig, Message } from '../instance/config.ts';

const PROGRAM = fileURLToPath(new URL('../instance.ts', import.meta.url));

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One run of the instance program, and what was done to it. */
export class InstanceProcess {
  readonly config: InstanceConfig;
  readonly proxy: TcpProxy;
  readonly exited: Promise<Exit>;
  /** A fault is at work on it. */
  ill = false;
  /** It was told to stop, and no load balancer would send it anything more. */
  stopping = false;
  readonly #child: ChildProcess;
  readonly #said: Promise<Message | null>;
  #instance = '';
  #port = 0;
  #gone = false;

  constructor(config: InstanceConfig, proxy: TcpProxy, reaper: Reaper) {
    this.config = config;
    this.proxy = proxy;
    const errors = openSync(config.logFile.replace(/\.jsonl$/, '.err'), 'a');
    this.#child = fork(PROGRAM, [JSON.stringify(config)], {
      execArgv: ['--conditions=@leasehold/source'],
      stdio: ['ignore', errors, errors, 'ipc'],
    });
    closeSync(errors);
    reaper.watch(this.#child);
    // A message to a process that is just ending fails here.
    this.#child.on('error', () => {});
    this.exited = once(this.#child, 'exit').then(([code, signal]) => {
      this.#gone = true;
      return { code, signal };
    });
    this.#said = Promise.race([
      once(this.#child, 'message').then(([message]) => message as Message),
      this.exited.then(() => null),
    ]);
  }

  get instance(): string {
    return this.#instance;
  }

  get port(): number {
    return this.#port;
  }

  /** It takes part, and nobody has ended it. */
  get isAlive(): boolean {
    return !this.#gone && !this.stopping && this.#port > 0;
  }

  /** Null once it takes part; the code of the error where it is refused. @throws {Error} when it ends before. */
  async start(): Promise<string | null> {
    const said = await this.#said;
    if (said === null) throw new Error(`${this.config.label} ended before it was ready`);
    this.#instance = said.instance;
    if (said.say === 'refused') return said.code;
    this.#port = said.port;
    return null;
  }

  kill(): Promise<Exit> {
    return this.#end('SIGKILL');
  }

  /** Asks it to stop, as a deploy does. */
  stop(): Promise<Exit> {
    return this.#end('SIGTERM');
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  #end(signal: NodeJS.Signals): Promise<Exit> {
    this.stopping = true;
    this.#child.kill(signal);
    return this.exited;
  }
}
