import { readFile } from 'node:fs/promises';

export interface UserIds {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const CANDIDATES = ['postgres', 'nobody'] as const;

/**
 * Whom to run as, where this process is root: PostgreSQL and PgBouncer refuse root. No user is created for it, since
 * every system has `nobody`. Undefined: run as oneself.
 */
export async function unprivilegedUser(): Promise<UserIds | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const users = parseUsers(await readFile('/etc/passwd', 'utf8'));
  const user = CANDIDATES.map((name) => users.get(name)).find((ids) => ids !== undefined);
  if (user === undefined) {
    throw new Error(`This process is root, and /etc/passwd has none of the users ${CANDIDATES.join(', ')} to run a server as.`);
  }
  return user;
}

function parseUsers(passwd: string): Map<string, UserIds> {
  const fields = passwd.split('\n').map((line) => line.split(':'));
  return new Map(fields.map(([name = '', , uid, gid]) => [name, { name, uid: Number(uid), gid: Number(gid) }]));
}
