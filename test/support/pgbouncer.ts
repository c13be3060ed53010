import { execFile, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { chown, open, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../packages/testing/src/process/free-port.ts';
import { makeTempFolder } from '../../packages/testing/src/process/temp-folder.ts';
import { unprivilegedUser } from '../../packages/testing/src/process/unprivileged-user.ts';
import { Watchdog } from '../../packages/testing/src/process/watchdog.ts';

export interface PgBouncerOptions {
  /** Connection string of the server behind it. */
  readonly target: string;
  readonly poolMode: 'session' | 'transaction' | 'statement';
  /** Server connections per user and database. @default 5 */
  readonly poolSize?: number;
}

export interface PgBouncer extends AsyncDisposable {
  /** The target's, by way of PgBouncer. */
  readonly connectionString: string;
  stop(): Promise<void>;
}

export const PGBOUNCER_MISSING = 'PgBouncer is not installed (on Debian: apt-get install pgbouncer)';

export function pgbouncerAvailable(): boolean {
  return findPgBouncer() !== undefined;
}

/** Installs Debian's package, where that is possible: as root, on a system with apt-get. */
export async function installPgBouncer(): Promise<void> {
  if (pgbouncerAvailable()) return;
  if (process.getuid?.() !== 0) throw new Error(`${PGBOUNCER_MISSING}; only root can install it.`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await promisify(execFile)('apt-get', ['update', '-q'], { env });
  await promisify(execFile)('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'pgbouncer'], { env });
}

/** Debian keeps it in /usr/sbin, which is on nobody's PATH but root's. */
function findPgBouncer(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts PgBouncer on a free port, as another user where this process is root (PgBouncer refuses that). */
export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  const program = findPgBouncer();
  if (program === undefined) throw new Error(`${PGBOUNCER_MISSING}.`);
  const runAs = await unprivilegedUser();
  const folder = await makeTempFolder('pgbouncer', runAs);
  const watchdog = new Watchdog(folder);
  const port = await freePort();
  try {
    const files = await writeFiles(folder, settings(options, port, folder), users(options.target));
    if (runAs !== undefined) for (const file of files) await chown(file, runAs.uid, runAs.gid);
    const log = await open(join(folder, 'log'), 'a');
    const child = spawn(program, [files[0]], { ...runAs, cwd: folder, detached: true, stdio: ['ignore', log.fd, log.fd] });
    watchdog.watch(child);
    child.unref();
    await log.close();
    await untilListening(port, () => child.pid !== undefined && child.exitCode === null);
  } catch (cause) {
    const log = await readFile(join(folder, 'log'), 'utf8').catch(() => '');
    await watchdog.release();
    throw new Error(`PgBouncer did not start.\n${log}`, { cause });
  }
  const stop = (): Promise<void> => watchdog.release();
  return { connectionString: viaPort(options.target, port), stop, [Symbol.asyncDispose]: stop };
}

/** Only what a test needs: everything else is as a newcomer's PgBouncer has it. */
function settings(options: PgBouncerOptions, port: number, folder: string): string {
  const target = new URL(options.target);
  return [
    '[databases]',
    `* = host=${target.hostname} port=${target.port || '5432'}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${join(folder, 'users')}`,
    `admin_users = ${decodeURIComponent(target.username)}`,
    `pool_mode = ${options.poolMode}`,
    `default_pool_size = ${options.poolSize ?? 5}`,
    'max_client_conn = 500',
    '',
  ].join('\n');
}

function users(target: string): string {
  const { username, password } = new URL(target);
  return `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`;
}

async function writeFiles(folder: string, ini: string, userList: string): Promise<[string, string]> {
  const files: [string, string] = [join(folder, 'pgbouncer.ini'), join(folder, 'users')];
  await writeFile(files[0], ini, { mode: 0o600 });
  await writeFile(files[1], userList, { mode: 0o600 });
  return files;
}

const LISTEN_DEADLINE_MS = 10_000;

async function untilListening(port: number, running: () => boolean): Promise<void> {
  const deadline = Date.now() + LISTEN_DEADLINE_MS;
  while (!(await listens(port))) {
    if (!running()) throw new Error('It ended at once.');
    if (Date.now() > deadline) throw new Error(`It took no connections within ${LISTEN_DEADLINE_MS} ms.`);
    await sleep(10);
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('connect', () => socket.destroy()).on('error', () => resolve(false));
  });
}

function viaPort(target: string, port: number): string {
  const url = new URL(target);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}
