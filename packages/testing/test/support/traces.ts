import { execFile } from 'node:child_process';
import { access, readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { PostgresServer } from '../../src/index.ts';

/** What a server leaves if nobody cleans up. */
export interface Traces {
  readonly pid: number;
  readonly folder: string;
}

/** The first line of `postmaster.pid` is the server's process id, the second its data directory. */
export async function tracesOf(server: PostgresServer): Promise<Traces> {
  const client = new pg.Client({ connectionString: server.connectionString });
  await client.connect();
  const { rows } = await client.query(`select pg_read_file('postmaster.pid') as text`);
  await client.end();
  const [pid, dataDirectory = ''] = String(rows[0].text).split('\n');
  return { pid: Number(pid), folder: dirname(dataDirectory) };
}

export async function whatIsLeft({ pid, folder }: Traces): Promise<string[]> {
  const found = await access(folder).then(
    () => [folder],
    () => [],
  );
  return (await isRunning(pid)) ? [...found, `process ${pid}`] : found;
}

/** A zombie is dead: in a container, nobody may be there to reap it. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/^State:\s+Z/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''));
}

/** The command lines of processes that mention `text`. */
export async function processesNaming(text: string): Promise<string[]> {
  const lines = process.platform === 'linux' ? await commandLinesFromProc() : await commandLinesFromPs();
  return lines.filter((line) => line.includes(text));
}

async function commandLinesFromProc(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
}

async function commandLinesFromPs(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'args=']);
  return stdout.split('\n');
}
