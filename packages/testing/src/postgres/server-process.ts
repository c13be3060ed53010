import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, signal } from '../process/process-tree.ts';
import type { UserIds } from '../process/unprivileged-user.ts';

export interface ServerProcessOptions {
  readonly postgres: string;
  readonly dataDirectory: string;
  readonly folder: string;
  readonly port: number;
  readonly flags: readonly string[];
  readonly runAs: UserIds | undefined;
  readonly logFile: string;
  readonly onSpawn: (child: ChildProcess) => void;
}

/** How a server ends: `fast` ends the sessions and writes a checkpoint, `immediate` is a crash that replays WAL later. */
export type ShutdownMode = 'fast' | 'immediate';

const SHUTDOWN_SIGNAL = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;
const READY_POLL_MS = 10;
const START_DEADLINE_MS = 60_000;

/** One run of the `postgres` program, from start to exit. */
export class ServerProcess {
  readonly #child: ChildProcess;
  #stopped: number[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when the server takes connections. */
  static async start(options: ServerProcessOptions): Promise<ServerProcess> {
    const server = new ServerProcess(await spawnPostgres(options));
    options.onSpawn(server.#child);
    await server.#untilReady(options.dataDirectory);
    return server;
  }

  async stop(mode: ShutdownMode): Promise<void> {
    if (!this.#running) return;
    this.thaw();
    this.#child.ref();
    const exit = once(this.#child, 'exit');
    this.#child.kill(SHUTDOWN_SIGNAL[mode]);
    await exit;
  }

  /** The parent is stopped first, so that no child is born after the list was read. */
  async freeze(): Promise<void> {
    const pid = this.#pid;
    if (pid === undefined || this.#stopped.length > 0) return;
    this.#stopped = [pid];
    signal(pid, 'SIGSTOP');
    const children = await childrenOf(pid);
    this.#stopped.push(...children.filter((child) => signal(child, 'SIGSTOP')));
  }

  thaw(): void {
    for (const pid of this.#stopped.toReversed()) signal(pid, 'SIGCONT');
    this.#stopped = [];
  }

  get #running(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get #pid(): number | undefined {
    return this.#running ? this.#child.pid : undefined;
  }

  async #untilReady(dataDirectory: string): Promise<void> {
    const deadline = Date.now() + START_DEADLINE_MS;
    while (!(await this.#ready(dataDirectory))) {
      if (!this.#running) throw new Error('postgres ended while it was starting.');
      if (Date.now() > deadline) {
        await this.stop('immediate');
        throw new Error(`postgres took no connections within ${START_DEADLINE_MS} ms.`);
      }
      await sleep(READY_POLL_MS);
    }
  }

  /** The server itself writes into this file that it is ready: no connection is tried, no log text is matched. */
  async #ready(dataDirectory: string): Promise<boolean> {
    const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
    const lines = text.split('\n').map((line) => line.trim());
    return Number(lines[0]) === this.#pid && lines[7] === 'ready';
  }
}

/**
 * In a session of its own: a Ctrl-C in the terminal is for this process, whose tests may still have to clean up. Its
 * log is a file, since a pipe would fill, and stop the server, while a test blocks the event loop.
 */
async function spawnPostgres(options: ServerProcessOptions): Promise<ChildProcess> {
  const log = await open(options.logFile, 'a');
  const child = spawn(options.postgres, ['-D', options.dataDirectory, '-p', String(options.port), ...options.flags], {
    ...options.runAs,
    cwd: options.folder,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: { ...process.env, LC_ALL: 'C' },
  });
  child.unref();
  await log.close();
  return child;
}
