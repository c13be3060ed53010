import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Reaper } from '../../../support/reaper.ts';
import { nowUs } from '../../../lab/src/monotonic.ts';
import type { Command, InstanceConfig, Measured, Message } from '../instance/config.ts';

const PROGRAM = fileURLToPath(new URL('../instance.ts', import.meta.url));

/** One run of the instance program, and what was done to it. */
export class InstanceProcess {
  readonly config: InstanceConfig;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** When it was killed, or told to stop; Infinity while it was not. */
  endedFrom = Number.POSITIVE_INFINITY;
  readonly #child: ChildProcess;
  #instance = '';
  #port = 0;
  #gone = false;
  #frozen = false;

  constructor(config: InstanceConfig, reaper: Reaper) {
    this.config = config;
    const errors = openSync(config.logFile.replace(/\.jsonl$/, '.err'), 'a');
    this.#child = fork(PROGRAM, [JSON.stringify(config)], {
      // Code that rests for half a minute would be thrown away, and with it several MiB in which a leak could hide.
      execArgv: ['--conditions=@leasehold/source', '--expose-gc', '--no-flush-bytecode'],
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
  }

  get instance(): string {
    return this.#instance;
  }

  get port(): number {
    return this.#port;
  }

  /** Nobody has ended it, and it has not ended by itself. */
  get isAlive(): boolean {
    return !this.#gone && this.endedFrom === Number.POSITIVE_INFINITY;
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  /** @throws {Error} when it ends before it competes. */
  async ready(): Promise<this> {
    const said = await this.#hear('ready');
    this.#instance = said.instance;
    this.#port = said.port;
    return this;
  }

  async measure(): Promise<Measured> {
    this.tell({ do: 'measure' });
    return (await this.#hear('measured')).measured;
  }

  async publish(events: number, everyMs: number): Promise<void> {
    this.tell({ do: 'publish', events, everyMs });
    await this.#hear('published');
  }

  tell(command: Command): void {
    if (this.#child.connected) this.#child.send(command);
  }

  kill(): Promise<unknown> {
    return this.#end('SIGKILL');
  }

  /** Asks it to stop, as a deploy does. */
  stop(): Promise<unknown> {
    return this.#end('SIGTERM');
  }

  freeze(): void {
    this.#frozen = true;
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
    this.#frozen = false;
  }

  #end(signal: NodeJS.Signals): Promise<unknown> {
    this.endedFrom = Math.min(this.endedFrom, nowUs());
    this.#child.kill(signal);
    return this.exited;
  }

  async #hear<Said extends Message['say']>(said: Said): Promise<Extract<Message, { say: Said }>> {
    for (;;) {
      const message = await Promise.race([once(this.#child, 'message'), this.exited]);
      if (!Array.isArray(message)) throw new Error(`${this.config.label} ended before it was ${said}`);
      const [one] = message as [Message];
      if (one.say === said) return one as Extract<Message, { say: Said }>;
    }
  }
}
