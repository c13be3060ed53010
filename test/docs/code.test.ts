import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { readBlocks } from './support/blocks.ts';
import { type ExtractedBlock, extractBlocks } from './support/extract.ts';
import { root } from './support/pages.ts';

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, stdout, stderr };
}

/** `…/docs__guide__fastify.md.12.ts(14,3): error` becomes `docs/guide/fastify.md:14:3: error`. */
function readable(output: string): string {
  return output.replaceAll(/\S*\/([^\s/]+\.md)\.\d+\.ts\((\d+),(\d+)\)/g, (_, page: string, line: string, column: string) => {
    return `${page.replaceAll('__', '/')}:${line}:${column}`;
  });
}

/** Types, and the peers of NestJS. */
const NOT_IMPORTED = ['@types/express', 'reflect-metadata', 'rxjs'];

const blocks: readonly ExtractedBlock[] = extractBlocks();
const programs = [...new Set(blocks.map(({ file }) => dirname(file)))];

test('every ts block type-checks', { timeout: 120_000 }, async () => {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const runs = await Promise.all(programs.map((program) => run([tsc, '-p', program, '--noEmit'])));
  expect(readable(runs.map(({ stdout, stderr }) => stdout + stderr).join(''))).toBe('');
  expect(runs.map(({ code }) => code)).toEqual(programs.map(() => 0));
  expect(blocks.length).toBeGreaterThan(20);
});

test('a ts block that is ignored says why', () => {
  const silent = readBlocks('ts').filter(({ marks }) => marks.startsWith('ignore') && !/^ignore: \S/.test(marks));
  expect(silent.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

test('what knip is told to ignore here is imported by a ts block, or needed beside what is', () => {
  const knip = JSON.parse(readFileSync(join(root, 'knip.json'), 'utf8')) as {
    readonly workspaces: Readonly<Record<string, { readonly ignoreDependencies?: readonly string[] }>>;
  };
  const ignored = knip.workspaces['test/docs']?.ignoreDependencies ?? [];
  const code = blocks.map((block) => block.code).join('\n');
  expect(ignored.length).toBeGreaterThan(5);
  const unused = ignored.filter((name) => !new RegExp(`(?:from|import) '${name}(?:/[^']*)?'`).test(code));
  expect(unused).toEqual(NOT_IMPORTED);
});

describe('runs as the page says', () => {
  const runnable = blocks.filter(({ marks }) => marks.split(' ').includes('run'));
  test.for(runnable.map((block) => [`${block.page}:${block.line}`, block] as const))(
    '%s',
    { timeout: 60_000 },
    async ([, { file, output }]) => {
      const ran = await run(['--conditions=@leasehold/source', file], { NODE_ENV: 'test' });
      expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' });
      if (output !== null) expect(ran.stdout).toBe(output);
    },
  );
});
