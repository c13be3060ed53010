import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** The direct children of a process. */
export async function childrenOf(pid: number): Promise<number[]> {
  const parents = process.platform === 'linux' ? await parentsFromProc() : await parentsFromPs();
  return parents.filter(([, parent]) => parent === pid).map(([child]) => child);
}

/** Sends a signal; false when the process is gone. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

type ChildAndParent = readonly [child: number, parent: number];

/** Slim container images have no `ps`. */
async function parentsFromProc(): Promise<ChildAndParent[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  return Promise.all(pids.map(async (pid) => [pid, await parentFromProc(pid)] as const));
}

async function parentFromProc(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // "pid (name) state parent …", where the name may hold spaces and parentheses.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

async function parentsFromPs(): Promise<ChildAndParent[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout.split('\n').map((line) => {
    const [child, parent] = line.trim().split(/\s+/).map(Number);
    return [child ?? 0, parent ?? 0] as const;
  });
}
