import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { type SqlClient, sql, workTable } from '@leasehold/core/work';
import { describe, expect, onTestFinished } from 'vitest';
import { type TestDatabase, test } from '../support/database.ts';
import { type Block, readBlocks } from './support/blocks.ts';
import { root } from './support/pages.ts';

const blocks = readBlocks('ts').filter(({ page }) => page === 'docs/guide/work-rows-clients.md');
const programs = blocks.filter(({ marks }) => marks === 'database');

/** As the page says, in a schema of its own, with two rows that are due. */
async function prepare({ schema, query, connectionString }: TestDatabase): Promise<string> {
  await query(`create schema ${schema}; create table ${schema}.sent (delivery bigint)`);
  const table = readBlocks('sql').find(({ page }) => page === 'docs/guide/work-rows-clients.md');
  await query((table?.code ?? '').replace('deliveries', `${schema}.deliveries`));
  await query(`insert into ${schema}.deliveries default values`);
  await query(`insert into ${schema}.deliveries default values`);
  const url = new URL(connectionString);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return url.href;
}

/** Where it can import what the package of these tests can; not the folder of the other test, which empties it. */
function extract({ line, code }: Block, schema: string): string {
  const folder = join(import.meta.dirname, '.extracted-clients', schema);
  mkdirSync(folder, { recursive: true });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, `line-${line}.ts`);
  writeFileSync(file, code);
  return file;
}

async function run(file: string, databaseUrl: string): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, ['--conditions=@leasehold/source', file], {
    cwd: root,
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(child, 'close') as Promise<[number | null]>;
  const [stderr, [code]] = await Promise.all([text(child.stderr), exit]);
  return { code, stderr };
}

describe('a program of the page', () => {
  test('is there for four drivers', () => {
    expect(programs).toHaveLength(4);
  });

  test.for(programs.map((block) => [block.line, block] as const))(
    'at line %d finishes a row in the transaction of its own client',
    { timeout: 60_000 },
    async ([, block], { database }) => {
      const url = await prepare(database);
      expect(await run(extract(block, database.schema), url)).toEqual({ code: 0, stderr: '' });
      const rows = await database.query(
        `select id, completed_at is not null as done, delivery from ${database.schema}.deliveries left join ${database.schema}.sent on delivery = id order by id`,
      );
      expect(rows).toEqual([
        { id: '1', done: true, delivery: '1' },
        { id: '2', done: false, delivery: null },
      ]);
    },
  );
});

test('the lines for Prisma work on a stand-in with its raw method', async ({ database }) => {
  await prepare(database);
  const block = blocks.find(({ marks }) => marks === 'prisma');
  if (block === undefined) throw new Error('The page has no block for Prisma.');
  const module = (await import(pathToFileURL(extract(block, database.schema)).href)) as { clientOf(prisma: object): SqlClient };
  const standIn = {
    $queryRawUnsafe: async (text: string, ...values: unknown[]) => (await database.pool.query(text, values)).rows,
  };
  const deliveries = workTable<{ id: string }>({
    table: [database.schema, 'deliveries'],
    orderBy: 'created_at',
    live: sql`completed_at is null`,
    done: { completed_at: sql`clock_timestamp()` },
  });
  const claim = await deliveries.claim(module.clientOf(standIn));
  expect(await claim.renew()).toEqual([]);
  expect(await claim.settle(claim.rows.map((row) => ({ row, outcome: 'done' })))).toEqual(['done', 'done']);
});
