import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeTempFolder } from '../src/process/temp-folder.ts';

const NOBODY = { name: 'somebody', uid: 64_000, gid: 64_000 };

describe('a folder for a server that another user runs', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'leasehold-closed-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
  });

  test('is refused where that user cannot enter, by name and with what helps, and nothing is left there', async () => {
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    await chmod(folder, 0o700);
    await expect(makeTempFolder('postgres', NOBODY)).rejects.toThrow(
      `the temporary folder ${folder} cannot be entered by the user somebody: set TMPDIR to another.`,
    );
    expect(await readdir(folder)).toEqual([]);
  });

  test('is refused below a folder that is closed, which is named', async () => {
    const inner = join(folder, 'inner');
    await mkdir(inner, { mode: 0o755 });
    vi.stubEnv('TMPDIR', inner);
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(makeTempFolder('postgres', NOBODY)).rejects.toThrow(`user somebody (${folder} is closed to others)`);
  });

  test('is no matter where no other user is needed', async () => {
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await makeTempFolder('postgres', undefined)).toContain(join(folder, 'leasehold-postgres-'));
  });

  test.runIf(process.getuid?.() === 0)('belongs to that user where it can enter', async () => {
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    await chmod(folder, 0o711);
    expect(await readdir(await makeTempFolder('postgres', NOBODY))).toEqual([]);
  });
});
