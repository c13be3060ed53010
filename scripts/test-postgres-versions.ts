/**
 * Runs the tests of the `pg` project on the other supported PostgreSQL versions, and prints one line for each.
 *
 *     node scripts/test-postgres-versions.ts                 all of them
 *     node scripts/test-postgres-versions.ts 14 18           these
 *     node scripts/test-postgres-versions.ts 14 -- fence     more arguments for vitest
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

const root: string = join(import.meta.dirname, '..');
const versions: string = join(root, 'test', 'postgres-versions');

interface Manifest {
  readonly packageManager?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
}

interface Arguments {
  readonly majors: readonly string[];
  readonly vitest: readonly string[];
}

/** A major that is not installable is a mistake of the caller, not a version without failures. */
function readArguments(known: readonly string[]): Arguments {
  const split = process.argv.indexOf('--');
  const own = process.argv.slice(2, split === -1 ? undefined : split);
  const { positionals } = parseArgs({ args: own, allowPositionals: true });
  const unknown = positionals.filter((major) => !known.includes(major));
  if (unknown.length > 0) throw new Error(`No PostgreSQL ${unknown.join(', ')} in ${versions}; there are ${known.join(', ')}.`);
  return { majors: positionals.length > 0 ? positionals : known, vitest: split === -1 ? [] : process.argv.slice(split + 1) };
}

interface Run {
  readonly code: number | null;
  readonly output: string;
}

async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const child = spawn(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, output: stdout + stderr };
}

async function install(packageManager: string): Promise<void> {
  const { code, output } = await run('npx', ['--yes', packageManager, '--dir', versions, 'install', '--frozen-lockfile']);
  if (code !== 0) throw new Error(`Installing the PostgreSQL versions failed.\n${output}`);
}

interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}

/** `DATABASE_URL` would take the place of the version asked for. */
async function testVersion(major: string, vitestArguments: readonly string[]): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'leasehold-report-'));
  const report = join(folder, 'report.json');
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--project', 'pg', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const env = { LEASEHOLD_TEST_POSTGRES: join(versions, 'node_modules', `pg${major}`), DATABASE_URL: '' };
  try {
    const { code, output } = await run(process.execPath, [...args, ...vitestArguments], env);
    const counts = await readFile(report, 'utf8').then(
      (json) => JSON.parse(json) as Report,
      () => undefined,
    );
    const ok = code === 0 && counts?.success === true;
    if (!ok) console.log(output);
    console.log(`PostgreSQL ${major}: ${describe(counts)}${ok ? '' : ` (vitest exited with ${code})`}`);
    return ok;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function describe(report: Report | undefined): string {
  if (report === undefined) return 'no report';
  const skipped = report.numPendingTests > 0 ? `, ${report.numPendingTests} skipped` : '';
  return `${report.numPassedTests} passed, ${report.numFailedTests} failed${skipped}`;
}

const { packageManager = 'pnpm' } = await readManifest(root);
const { dependencies = {} } = await readManifest(versions);
const wanted = readArguments(Object.keys(dependencies).map((name) => name.replace('pg', '')));
await install(packageManager);
for (const major of wanted.majors) {
  if (!(await testVersion(major, wanted.vitest))) process.exitCode = 1;
}
