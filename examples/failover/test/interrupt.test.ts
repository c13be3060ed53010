import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { Mark } from '../../../test/support/marked-processes.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

interface RunningDemo {
  readonly process: ChildProcess;
  /** Where it puts its files. */
  readonly folder: string;
  readonly output: () => string;
  /** What still runs of it: all its processes inherit the mark. */
  readonly processes: () => Promise<string[]>;
}

async function startDemo(): Promise<RunningDemo> {
  const folder = await mkdtemp(join(tmpdir(), 'leasehold-interrupt-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // As root, the demo runs PostgreSQL as another user.
  await chmod(folder, 0o755);
  const mark = new Mark();
  const demo = spawn(process.execPath, ['--conditions=@leasehold/source', MAIN, '--ci'], {
    env: { ...process.env, DATABASE_URL: '', TMPDIR: folder, ...mark.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void demo.kill('SIGKILL'));
  let output = '';
  for (const stream of [demo.stdout, demo.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  return { process: demo, folder, output: () => output, processes: () => mark.processes() };
}

/** Until what was printed, or `start` for the moment at which there is a first process to clean up for. */
async function untilDemo({ process: demo, processes, output }: RunningDemo, moment: string): Promise<void> {
  const isReached = async (): Promise<boolean> =>
    moment === 'start' ? (await processes()).length > 1 : output().includes(moment);
  const reached = async (): Promise<string> => {
    if (await isReached()) return 'reached';
    return demo.exitCode === null ? 'not yet' : `over: ${output()}`;
  };
  await expect.poll(reached, { timeout: 60_000, interval: 20 }).not.toBe('not yet');
  expect(await reached()).toBe('reached');
}

const CASES = [
  ['SIGINT', 'start'],
  ['SIGKILL', 'start'],
  ['SIGINT', 'three copies agree'],
  ['SIGTERM', 'three copies agree'],
  ['SIGKILL', 'three copies agree'],
  ['SIGINT', 'froze'],
  ['SIGKILL', 'froze'],
] as const;

test.runIf(process.platform === 'linux').each(CASES)(
  '%s at "%s" leaves no process and no file behind',
  async (signal, moment) => {
    const demo = await startDemo();
    await untilDemo(demo, moment);
    expect((await demo.processes()).length).toBeGreaterThan(1);
    const exit = once(demo.process, 'exit');
    demo.process.kill(signal);
    const [code] = (await exit) as [number | null];
    expect(code).toBe({ SIGINT: 130, SIGTERM: 143, SIGKILL: null }[signal]);
    await expect.poll(demo.processes, { timeout: 15_000 }).toEqual([]);
    expect(await readdir(demo.folder)).toEqual([]);
    if (signal !== 'SIGKILL') expect(demo.output()).toContain('interrupted; nothing is left running\n');
  },
  90_000,
);
