import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Mutant, mutants } from './mutants.ts';

/**
 * Proves that the model test can fail: breaks a copy of core in every way of the list, one at a time, and expects the
 * model to notice each. `LEASEHOLD_MUTANT_RUNS` histories are tried against each (2,000 by default); words given on the
 * command line choose the mutants that contain them.
 */
const RUNS = process.env['LEASEHOLD_MUTANT_RUNS'] ?? '2000';
const DEADLINE_MS = 300_000;
const root = join(import.meta.dirname, '../../..');
const COPIED = ['packages/core/src', 'packages/core/package.json', 'packages/testing/src', 'test/model', 'package.json'];

interface Outcome {
  readonly code: number | null;
  readonly said: string;
}

/** The part of the workspace that the model needs, apart from the one that others work in. */
async function copyWorkspace(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'leasehold-mutants-'));
  for (const path of COPIED) await cp(join(root, path), join(copy, path), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const scope = join(copy, 'packages/testing/node_modules/@leasehold');
  await mkdir(scope, { recursive: true });
  await symlink(join(copy, 'packages/core'), join(scope, 'core'));
  return copy;
}

function tryModel(copy: string): Promise<Outcome> {
  const script = join(copy, 'test/model/mutants/try-model.ts');
  const child = spawn(process.execPath, ['--conditions=@leasehold/source', script, RUNS], { timeout: DEADLINE_MS });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, said: said.trim() }));
  });
}

async function tryMutant(copy: string, { file, find, replace }: Mutant): Promise<Outcome> {
  const path = join(copy, 'packages/core/src', file);
  const source = await readFile(path, 'utf8');
  if (source.split(find).length !== 2) return { code: null, said: `the text to replace is not there once in ${file}` };
  await writeFile(
    path,
    source.replace(find, () => replace),
  );
  try {
    return await tryModel(copy);
  } finally {
    await writeFile(path, source);
  }
}

/** 3 is the model's own word; anything else is a mutant that does not even run, which proves nothing. */
function judge(what: string, { code, said }: Outcome): boolean {
  const caught = code === 3;
  const verdict = caught ? 'caught' : code === 0 ? 'NOT NOTICED' : 'BROKEN';
  console.log(
    `${verdict}: ${what}\n    ${said
      .split('\n')
      .slice(0, caught ? 1 : 8)
      .join('\n    ')}`,
  );
  return caught;
}

const copy = await copyWorkspace();
try {
  const words = process.argv.slice(2);
  const chosen = mutants.filter(({ what }) => words.every((word) => what.includes(word)));
  const sound = words.length > 0 ? { code: 0, said: '' } : await tryModel(copy);
  if (sound.code !== 0) console.log(`the model fails on core as it is: ${sound.said}`);
  const missed: string[] = [];
  for (const mutant of chosen) {
    if (!judge(mutant.what, await tryMutant(copy, mutant))) missed.push(mutant.what);
  }
  console.log(`${chosen.length - missed.length} of ${chosen.length} mutants caught`);
  process.exitCode = missed.length === 0 && sound.code === 0 ? 0 : 1;
} finally {
  await rm(copy, { recursive: true, force: true });
}
