import { once } from 'node:events';
import { join } from 'node:path';
import type { TcpProxy } from '@leasehold/testing';
import type { Random } from '../random.ts';
import type { Reaper } from '../../../support/reaper.ts';
import { type ProcessConfig, WorkerProcess } from './worker-process.ts';

/** What a process is told of its place. */
export interface Place extends ProcessConfig {
  readonly index: number;
  /** The database by way of the slot's TCP proxy. */
  readonly url: string;
  readonly random: Random;
}

export interface SlotOptions {
  readonly index: number;
  readonly proxy: TcpProxy;
  readonly databaseUrl: string;
  readonly folder: string;
  /** What each process is to run. */
  readonly program: string;
  /** How each process is set up. */
  readonly configOf: (place: Place) => ProcessConfig;
  readonly reaper: Reaper;
  /** Aborts when nothing more is to be started. */
  readonly signal: AbortSignal;
  readonly random: Random;
  /** Told about a process that ended though nobody had told it to, or badly. */
  readonly onFailure: (what: string) => void;
}

/** A place for one instance: a process, the TCP proxy that it reaches the database by, and whoever is next when it dies. */
export class Slot {
  readonly index: number;
  readonly proxy: TcpProxy;
  readonly #options: SlotOptions;
  #generation = 0;
  #worker: WorkerProcess | null = null;
  /** A fault is at work on it. */
  ill = true;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.index = options.index;
    this.proxy = options.proxy;
  }

  get worker(): WorkerProcess | null {
    return this.#worker;
  }

  get instance(): string | null {
    return this.#worker?.instance ?? null;
  }

  /** Competes, and no fault is at work on it. */
  get isWell(): boolean {
    return !this.ill && this.instance !== null;
  }

  /** The name by which the database knows the connections of the process. */
  get label(): string {
    return `lab-${this.index}-${this.#generation}`;
  }

  /** Starts a process and waits until it competes. Each is a new instance. */
  async spawn(): Promise<void> {
    const { index, proxy, databaseUrl, folder, program, configOf, reaper, signal, random } = this.#options;
    if (signal.aborted) return;
    this.#generation += 1;
    const { label } = this;
    const url = proxy.connectionString(databaseUrl);
    const config = configOf({ index, label, url, logFile: join(folder, `${label}.jsonl`), random });
    const worker = new WorkerProcess(config, { file: program, reaper });
    this.#worker = worker;
    void this.#mourn(worker);
    await unlessAborted(worker.ready, signal);
  }

  async #mourn(worker: WorkerProcess): Promise<void> {
    const { code, signal, asked } = await worker.exited;
    if (this.#worker === worker) this.#worker = null;
    if (!asked) this.#options.onFailure(`${worker.label} ended by itself (${signal ?? `exit code ${code}`})`);
  }
}

/** A process that was frozen by hand would else be waited for after the lab was interrupted. */
async function unlessAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const settled = new AbortController();
  const aborted = once(signal, 'abort', { signal: settled.signal }).catch(() => {});
  await Promise.race([promise, aborted]);
  settled.abort();
}
