import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Call, Reply } from './calls.ts';

export interface StartOptions {
  /** The CPUs that it may use, as `taskset` wants them; null where it may use all. */
  readonly cpus: string | null;
  readonly args?: readonly string[];
  /** Of Node.js. */
  readonly flags?: readonly string[];
}

/** A process of the benchmark, with an event loop of its own. It goes with this one. */
export class BenchProcess implements Disposable {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #calls = 0;

  constructor(program: URL, { cpus, args = [], flags = [] }: StartOptions) {
    const path = fileURLToPath(program);
    const command = [process.execPath, '--conditions=@leasehold/source', ...flags, path, ...args];
    const [name = '', ...rest] = cpus === null ? command : ['taskset', '-c', cpus, ...command];
    // Standard output is the report's alone.
    this.#child = spawn(name, rest, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#child.on('message', (reply: Reply) => this.#settle(reply));
    this.#child.on('exit', (code, signal) => this.#fail(new Error(`${path} ${args.join(' ')} ended early: ${signal ?? code}`)));
    this.#child.on('error', (error) => this.#fail(error));
  }

  call<Result>(name: string, argument: unknown = null): Promise<Result> {
    const call: Call = { id: (this.#calls += 1), name, argument };
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(call.id, waiting);
    this.#child.send(call, (error) => {
      if (error !== null) this.#settle({ id: call.id, error: error.message });
    });
    return waiting.promise as Promise<Result>;
  }

  #settle({ id, result, error }: Reply): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error));
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  [Symbol.dispose](): void {
    this.#child.removeAllListeners('exit');
    this.#child.kill('SIGKILL');
  }
}
