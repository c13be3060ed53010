import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Watchdog } from '../process/watchdog.ts';
import { createDatabase, dropDatabase } from './databases.ts';
import { LeaseholdError } from '@leasehold/core';
import { ServerProcess, type ServerProcessOptions, type ShutdownMode } from './server-process.ts';

/** A running throw-away PostgreSQL, from {@link startPostgres}. */
export interface PostgresServer extends AsyncDisposable {
  /** Of the database `postgres`, as superuser. */
  readonly connectionString: string;
  readonly host: string;
  readonly port: number;
  /** Such as `17.10`. */
  readonly version: string;
  /** Ends the server and removes its data; harmless when called twice. */
  stop(): Promise<void>;
  /**
   * Ends and starts the server, on the same port; resolves when it takes connections. `immediate` is a crash.
   *
   * @throws {LeaseholdError} LEASEHOLD_STOPPED when it was stopped before.
   */
  restart(options: { readonly mode: ShutdownMode }): Promise<void>;
  /** Stops every process of the server: connections stay open, new ones are taken by the kernel, nothing answers. */
  freeze(): Promise<void>;
  /** Lets a frozen server run on; harmless when it is not frozen. */
  thaw(): void;
  /** Creates a database, a copy of `template` where one is given, and returns its connection string. */
  createDatabase(name: string, template?: string): Promise<string>;
  /** Drops a database and ends its sessions; harmless when there is none. */
  dropDatabase(name: string): Promise<void>;
  /** What the server has logged. */
  log(): Promise<string>;
}

export interface ThrowAwayServerParts {
  readonly process: ServerProcess;
  readonly options: ServerProcessOptions;
  readonly watchdog: Watchdog;
  readonly host: string;
  readonly user: string;
  readonly password: string;
}

export class ThrowAwayServer implements PostgresServer {
  readonly connectionString: string;
  readonly host: string;
  readonly port: number;
  readonly version: string;
  readonly #options: ServerProcessOptions;
  readonly #watchdog: Watchdog;
  #process: ServerProcess;
  #stopping: Promise<void> | undefined;

  private constructor(parts: ThrowAwayServerParts, version: string) {
    this.host = parts.host;
    this.port = parts.options.port;
    this.version = version;
    this.connectionString = `postgresql://${parts.user}:${parts.password}@${parts.host}:${this.port}/postgres`;
    this.#options = parts.options;
    this.#watchdog = parts.watchdog;
    this.#process = parts.process;
  }

  static async of(parts: ThrowAwayServerParts): Promise<ThrowAwayServer> {
    return new ThrowAwayServer(parts, await readVersion(parts.options.postgres));
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#process.stop('fast').then(() => this.#watchdog.release());
    return this.#stopping;
  }

  async restart({ mode }: { readonly mode: ShutdownMode }): Promise<void> {
    if (this.#stopping !== undefined) {
      throw new LeaseholdError('LEASEHOLD_STOPPED', 'This PostgreSQL was stopped, and its data are gone; start another.');
    }
    await this.#process.stop(mode);
    this.#process = await ServerProcess.start(this.#options);
  }

  freeze(): Promise<void> {
    return this.#process.freeze();
  }

  thaw(): void {
    this.#process.thaw();
  }

  createDatabase(name: string, template?: string): Promise<string> {
    return createDatabase(this.connectionString, name, template);
  }

  dropDatabase(name: string): Promise<void> {
    return dropDatabase(this.connectionString, name);
  }

  log(): Promise<string> {
    return readFile(this.#options.logFile, 'utf8');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

async function readVersion(postgres: string): Promise<string> {
  const { stdout } = await promisify(execFile)(postgres, ['--version']);
  return /\(PostgreSQL\) (\S+)/.exec(stdout)?.[1] ?? stdout.trim();
}
