import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Mark } from '../../../test/support/marked-processes.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const EXAMPLE = join(import.meta.dirname, '../../express');
const SOURCE = '--conditions=@leasehold/source';

interface Runner {
  readonly process: ChildProcess;
  readonly mark: Mark;
  readonly output: () => string;
  readonly type: (line: string) => void;
  readonly exited: Promise<unknown[]>;
}

function startRunner(script: string): Runner {
  const mark = new Mark();
  const env = { ...process.env, ...mark.env, PORTS: '0,0' };
  const child = spawn(process.execPath, [SOURCE, MAIN, SOURCE, script], { cwd: EXAMPLE, env, stdio: 'pipe' });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  return { process: child, mark, output: () => output, type: (line) => child.stdin.write(`${line}\n`), exited };
}

async function untilOpen({ output }: Runner): Promise<string> {
  await expect.poll(output, { timeout: 30_000 }).toMatch(/Open http:\S+\n/);
  return /Open (\S+)\n/.exec(output())?.[1] ?? '';
}

async function doneBy(origin: string): Promise<string | undefined> {
  const answer = await fetch(`${origin}/maintenance/runs`, { method: 'POST' });
  return ((await answer.json()) as { by?: string }).by;
}

test.each(['end', 'SIGINT'] as const)('two copies run, obey, and nothing is left after %s', async (how) => {
  const runner = startRunner('src/server.ts');
  const origin = await untilOpen(runner);
  await expect.poll(() => doneBy(origin), { timeout: 10_000 }).toBe('copy-1');

  runner.type('kill 1');
  await expect.poll(runner.output).toContain('copy-1 is gone (SIGKILL)');
  await expect.poll(() => doneBy(origin), { timeout: 10_000 }).toBe('copy-2');
  runner.type('start 1');
  await expect.poll(() => runner.output().match(/copy-1 listens/g), { timeout: 10_000 }).toHaveLength(2);
  runner.type('stop 1');
  await expect.poll(runner.output, { timeout: 10_000 }).toContain('copy-1 is gone (exit code 0)');
  runner.type('stop 1');
  await expect.poll(runner.output).toContain('it does not run');
  runner.type('what?');
  await expect.poll(() => runner.output().match(/"kill 1": as a crash/g)).toHaveLength(2);

  if (how === 'SIGINT') runner.process.kill(how);
  else runner.type(how);
  expect(await runner.exited).toEqual([0, null]);
  expect(runner.output()).toContain('copy-2 has ended');
  if (process.platform === 'linux') await expect.poll(() => runner.mark.processes(), { timeout: 10_000 }).toEqual([]);
});

test('a copy that does not start ends it', async () => {
  const runner = startRunner('src/missing.ts');
  expect(await runner.exited).toEqual([1, null]);
  expect(runner.output()).toContain('copy-1 is gone (exit code 1)');
  expect(runner.output()).toContain('PORTS=0,0');
  expect(runner.output()).not.toContain('Open ');
});

test.runIf(process.platform === 'linux')('when it is killed itself, its copies and the database go too', async () => {
  const runner = startRunner('src/server.ts');
  await untilOpen(runner);
  runner.process.kill('SIGKILL');
  await expect.poll(() => runner.mark.processes(), { timeout: 15_000 }).toEqual([]);
});
