import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type PostgresServer, startPostgres } from '@leasehold/testing';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

const SERVER = fileURLToPath(new URL('../src/server.ts', import.meta.url));
const LEASE_MS = 3_000;

let postgres: PostgresServer;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await startPostgres();
  pool = new pg.Pool({ connectionString: postgres.connectionString, max: 2 });
  pool.on('error', () => {});
  await pool.query(await readFile(new URL('../schema.sql', import.meta.url), 'utf8'));
});

afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

interface Copy {
  readonly label: string;
  readonly process: ChildProcess;
  readonly origin: string;
  readonly output: () => string;
}

async function startCopy(label: string): Promise<Copy> {
  const env = { ...process.env, DATABASE_URL: postgres.connectionString, COPY: label, PORT: '0' };
  const child = spawn(process.execPath, ['--conditions=@leasehold/source', SERVER], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  await expect.poll(() => output, { timeout: 20_000 }).toMatch(/listens on http:\S+/);
  const origin = /listens on (\S+)/.exec(output)?.[1] ?? '';
  return { label, process: child, origin, output: () => output };
}

interface Seen {
  readonly text: () => string;
  readonly over: Promise<void>;
}

/** The event stream of a page that is open on this copy. */
async function openPage({ origin }: Copy): Promise<Seen> {
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const answer = await fetch(`${origin}/maintenance/events`, {
    headers: { accept: 'text/event-stream' },
    signal: leave.signal,
  });
  let text = '';
  const read = async (): Promise<void> => {
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
  };
  return { text: () => text, over: read().catch(() => {}) };
}

interface RunAnswer {
  readonly status: number;
  readonly by?: string;
  readonly note?: string;
}

/** Asks for a run by hand, as the button of the page does. */
async function runNow({ origin }: Copy, note: string): Promise<RunAnswer> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${origin}/maintenance/runs`, { method: 'POST', headers, body: JSON.stringify({ note }) });
  return { status: answer.status, ...((await answer.json()) as object) };
}

/** Which copy runs what is asked of this one. */
async function holderThrough(copy: Copy): Promise<string | undefined> {
  return (await runNow(copy, 'who?')).by;
}

/** Two copies of which the first holds, and the second knows where it is. */
async function startPair(): Promise<[Copy, Copy]> {
  const first = await startCopy('first');
  await expect.poll(() => holderThrough(first), { timeout: 10_000 }).toBe('first');
  const second = await startCopy('second');
  await expect.poll(() => holderThrough(second), { timeout: 10_000 }).toBe('first');
  return [first, second];
}

test('the page of any copy shows what the holder does, and its button makes the holder run', async () => {
  const [first, second] = await startPair();
  expect(await (await fetch(second.origin)).text()).toContain('Read through <b>second</b>');
  const { text } = await openPage(second);
  await expect.poll(text, { timeout: 5_000 }).toMatch(/event: holder\ndata: {"by":"first"}/);
  expect(await runNow(second, 'pressed')).toMatchObject({ status: 201, by: 'first', note: 'pressed' });
  await expect.poll(text).toMatch(/event: run\ndata: {"by":"first","token":"\d+","note":"pressed"}/);
  await expect.poll(text, { timeout: 5_000 }).toContain('"note":"by the clock"');

  const lastRuns = await Promise.all([first, second].map(({ origin }) => fetch(`${origin}/internal/last-run`)));
  expect(lastRuns.map(({ status }) => status)).toEqual([200, 503]);
  const { rows } = await pool.query<{ instance: string }>('select distinct instance from maintenance_run');
  expect(rows).toEqual([{ instance: 'first' }]);
});

test('a copy that is told to end hands over at once, ends by itself, and the page goes on elsewhere', async () => {
  const [first, second] = await startPair();
  const page = await openPage(second);
  await expect.poll(page.text, { timeout: 5_000 }).toContain('"by":"first"');
  const exited = once(first.process, 'exit');
  first.process.kill('SIGTERM');
  await expect.poll(() => holderThrough(second), { interval: 20, timeout: LEASE_MS / 2 }).toBe('second');
  expect(await exited).toEqual([0, null]);
  expect(first.output()).toContain('first has ended');
  await page.over;
  const next = await openPage(second);
  await expect.poll(next.text, { timeout: 5_000 }).toContain('"by":"second"');
});

test('a copy that is killed is replaced when its lease has run out, and tokens only rise', async () => {
  const [first, second] = await startPair();
  first.process.kill('SIGKILL');
  const refused = await fetch(`${second.origin}/maintenance/runs`, { method: 'POST' });
  expect([refused.status, Number(refused.headers.get('retry-after')) >= 1]).toEqual([503, true]);
  await expect.poll(() => holderThrough(second), { timeout: LEASE_MS + 5_000 }).toBe('second');
  const { rows } = await pool.query<{ fencing_token: string }>('select fencing_token from maintenance_run order by run');
  const tokens = rows.map(({ fencing_token: token }) => Number(token));
  expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
});
