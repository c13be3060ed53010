import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Mark } from '../../../../test/support/marked-processes.ts';

export interface RunningShow {
  readonly process: ChildProcess;
  /** Where it puts its files. */
  readonly folder: string;
  readonly output: () => string;
  /** What still runs of it: all its processes inherit the mark. */
  readonly processes: () => Promise<string[]>;
}

/** Starts the main program of a show as CI does, in a folder of its own for what it leaves behind. */
export async function startShow(main: string, args: readonly string[] = []): Promise<RunningShow> {
  const folder = await mkdtemp(join(tmpdir(), 'leasehold-show-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // As root, a show runs PostgreSQL as another user.
  await chmod(folder, 0o755);
  const mark = new Mark();
  const show = spawn(process.execPath, ['--conditions=@leasehold/source', main, '--ci', ...args], {
    env: { ...process.env, DATABASE_URL: '', TMPDIR: folder, ...mark.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void show.kill('SIGKILL'));
  let output = '';
  for (const stream of [show.stdout, show.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  return { process: show, folder, output: () => output, processes: () => mark.processes() };
}

/** Until what was printed, or `start` for the moment at which there is a first process to clean up for. */
async function untilShow({ process: show, processes, output }: RunningShow, moment: string): Promise<void> {
  const isReached = async (): Promise<boolean> =>
    moment === 'start' ? (await processes()).length > 1 : output().includes(moment);
  const reached = async (): Promise<string> => {
    if (await isReached()) return 'reached';
    return show.exitCode === null ? 'not yet' : `over: ${output()}`;
  };
  await expect.poll(reached, { timeout: 60_000, interval: 20 }).not.toBe('not yet');
  expect(await reached()).toBe('reached');
}

/** With which signal, and at which moment: `start`, or what it prints. */
export type Interrupt = readonly [signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL', moment: string];

export function testInterrupts(main: string, interrupts: readonly Interrupt[]): void {
  test.runIf(process.platform === 'linux').each(interrupts)(
    '%s at "%s" leaves no process and no file behind',
    async (signal, moment) => {
      const show = await startShow(main);
      await untilShow(show, moment);
      expect((await show.processes()).length).toBeGreaterThan(1);
      const exit = once(show.process, 'exit');
      show.process.kill(signal);
      const [code] = (await exit) as [number | null];
      expect(code).toBe({ SIGINT: 130, SIGTERM: 143, SIGKILL: null }[signal]);
      await expect.poll(show.processes, { timeout: 15_000 }).toEqual([]);
      expect(await readdir(show.folder)).toEqual([]);
      if (signal !== 'SIGKILL') expect(show.output()).toContain('interrupted; nothing is left running\n');
    },
    90_000,
  );
}
