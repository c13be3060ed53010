import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const PROCESSES = 3;

/** A lab that is interrupted keeps its logs, so it gets a temporary folder of its own, which goes with the test. */
async function startLab(): Promise<ChildProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'leasehold-left-behind-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  // As root, the lab runs PostgreSQL as another user.
  await chmod(folder, 0o755);
  const args = ['--conditions=@leasehold/source', MAIN, '--minutes', '1', '--processes', String(PROCESSES), '--roles', '2'];
  const lab = spawn(process.execPath, args, { stdio: 'ignore', env: { ...process.env, TMPDIR: folder } });
  // Runs before the folder is removed: the last one added runs first.
  onTestFinished(() => void lab.kill('SIGKILL'));
  return lab;
}

/** Process ids of the workers, once all have been started. */
async function workersOf(pid: number): Promise<number[]> {
  return vi.waitFor(
    async () => {
      const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
      const programs = await Promise.all(children.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')));
      const workers = children.filter((_, index) => programs[index]?.includes('worker.ts'));
      expect(workers).toHaveLength(PROCESSES);
      return workers;
    },
    { timeout: 30_000, interval: 100 },
  );
}

/** A zombie has ended: in a container nobody may be there to reap it. */
async function isAlive(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => 'State:\tX');
  return !/^State:\s[XZ]/m.test(status);
}

test.skipIf(!existsSync('/proc/self/task')).each(['SIGKILL', 'SIGINT'] as const)(
  'a lab that ends by %s leaves no process behind, not even a frozen one',
  { timeout: 90_000 },
  async (signal) => {
    const lab = await startLab();
    const workers = await workersOf(lab.pid ?? 0);
    process.kill(workers[0] as number, 'SIGSTOP');
    const exit = once(lab, 'exit');
    lab.kill(signal);
    await exit;
    await vi.waitFor(async () => expect(await Promise.all(workers.map(isAlive))).toEqual(workers.map(() => false)), {
      timeout: 10_000,
    });
  },
);
