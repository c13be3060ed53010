import { chown, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { UserIds } from './unprivileged-user.ts';

/**
 * A new folder for one server, readable by its user alone.
 *
 * @throws {Error} when that user cannot enter it: said here, since a program that cannot be reached says only `EACCES`.
 */
export async function makeTempFolder(name: string, owner: UserIds | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `leasehold-${name}-`));
  if (owner === undefined) return folder;
  try {
    await requireEnterable(dirname(folder), owner);
    await chown(folder, owner.uid, owner.gid);
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
  return folder;
}

async function requireEnterable(folder: string, user: UserIds): Promise<void> {
  const closed = await closedFolder(folder, user);
  if (closed === undefined) return;
  const where = closed === folder ? '' : ` (${closed} is closed to others)`;
  throw new Error(`the temporary folder ${folder} cannot be entered by the user ${user.name}${where}: set TMPDIR to another.`);
}

/** The folder itself or the one above it that this user may not pass. */
async function closedFolder(folder: string, { uid, gid }: UserIds): Promise<string | undefined> {
  for (let path = folder; ; path = dirname(path)) {
    const { mode, ...owner } = await stat(path);
    const bit = owner.uid === uid ? 0o100 : owner.gid === gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return path;
    if (path === dirname(path)) return undefined;
  }
}
