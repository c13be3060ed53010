import { chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UserIds } from './unprivileged-user.ts';

/** A new folder for one server, readable by its user alone. */
export async function makeTempFolder(name: string, owner: UserIds | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `leasehold-${name}-`));
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
  return folder;
}
