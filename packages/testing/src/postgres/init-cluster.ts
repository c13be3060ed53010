import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { UserIds } from '../process/unprivileged-user.ts';

export interface ClusterOptions {
  readonly initdb: string;
  /** Becomes the parent of the data directory. */
  readonly folder: string;
  readonly runAs: UserIds | undefined;
  readonly user: string;
  readonly password: string;
  readonly logFile: string;
  readonly onSpawn: (child: ChildProcess) => void;
}

/** Creates a data directory and returns its path. */
export async function initCluster(options: ClusterOptions): Promise<string> {
  const dataDirectory = join(options.folder, 'data');
  const passwordFile = join(options.folder, 'password');
  await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 });
  if (options.runAs !== undefined) await chown(passwordFile, options.runAs.uid, options.runAs.gid);
  const code = await runInitdb(options, [`--pgdata=${dataDirectory}`, `--pwfile=${passwordFile}`, `--username=${options.user}`]);
  if (code !== 0) throw new Error(`initdb exited with ${code}.`);
  return dataDirectory;
}

/**
 * The C locale is the only one that every machine has. The password goes over loopback in clear: no other user of the
 * machine gets in, and no connection pays for SCRAM.
 */
const SAME_EVERYWHERE = ['--locale=C', '--lc-messages=C', '--encoding=UTF8', '--auth=password', '--no-sync'];

async function runInitdb(options: ClusterOptions, flags: readonly string[]): Promise<number | null> {
  const log = await open(options.logFile, 'a');
  try {
    const child = spawn(options.initdb, [...flags, ...SAME_EVERYWHERE], {
      ...options.runAs,
      cwd: options.folder,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { ...process.env, LC_ALL: 'C' },
    });
    options.onSpawn(child);
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  } finally {
    await log.close();
  }
}
