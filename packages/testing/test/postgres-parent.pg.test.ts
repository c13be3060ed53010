import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { processesNaming, type Traces, whatIsLeft } from './support/traces.ts';

const PATIENT = { timeout: 20_000, interval: 20 };
const PROGRAM = fileURLToPath(new URL('support/leave-postgres.ts', import.meta.url));

function leavePostgres(end: string, env: NodeJS.ProcessEnv = {}): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const child = spawn(process.execPath, ['--conditions=@leasehold/source', PROGRAM, end], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test.each([
  ['returns from its last line', 'nothing', { code: 0, signal: null }],
  ['exits', 'exit', { code: 3, signal: null }],
  ['throws', 'throw', { code: 1, signal: null }],
  ['returns with the server frozen', 'frozen', { code: 0, signal: null }],
  ['gets SIGINT', 'SIGINT', { code: null, signal: 'SIGINT' }],
  ['gets SIGTERM', 'SIGTERM', { code: null, signal: 'SIGTERM' }],
  ['gets SIGKILL', 'SIGKILL', { code: null, signal: 'SIGKILL' }],
])('a server goes with a parent that %s', async (_, end, ending) => {
  const child = leavePostgres(end);
  const exit = once(child, 'exit');
  const traces = JSON.parse(await text(child.stdout)) as Traces;
  const [code, signal] = await exit;
  expect({ code, signal }).toEqual(ending);
  await vi.waitFor(async () => expect(await whatIsLeft(traces)).toEqual([]), PATIENT);
});

test('a server that is still being created goes with its parent', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'leasehold-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  const child = leavePostgres('nothing', { TMPDIR: folder });
  await vi.waitFor(async () => expect(await processesNaming(`--pgdata=${folder}`)).not.toEqual([]), PATIENT);
  child.kill('SIGKILL');
  await vi.waitFor(async () => {
    expect(await readdir(folder)).toEqual([]);
    expect(await processesNaming(folder)).toEqual([]);
  }, PATIENT);
});
