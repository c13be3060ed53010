import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PostgresServer } from '@leasehold/testing';
import pg from 'pg';
import { expect, onTestFinished } from 'vitest';

export interface Example {
  /** Its folder. */
  readonly name: string;
  /** What Node starts a copy with. */
  readonly args: readonly string[];
}

export interface ExampleCopy {
  readonly label: string;
  readonly process: ChildProcess;
  readonly origin: string;
  readonly output: () => string;
}

const folderOf = ({ name }: Example): string => join(import.meta.dirname, '../../..', name);

/** An example on a database of its own. */
export class ExampleCopies {
  readonly pool: pg.Pool;
  readonly #example: Example;
  readonly #connectionString: string;

  private constructor(example: Example, connectionString: string) {
    this.#example = example;
    this.#connectionString = connectionString;
    this.pool = new pg.Pool({ connectionString, max: 2 });
    this.pool.on('error', () => {});
  }

  /** With the tables of the example. */
  static async on(postgres: PostgresServer, example: Example): Promise<ExampleCopies> {
    const copies = new ExampleCopies(example, await postgres.createDatabase(`example_${randomBytes(4).toString('hex')}`));
    onTestFinished(() => copies.pool.end());
    await copies.pool.query(await readFile(join(folderOf(example), 'schema.sql'), 'utf8'));
    return copies;
  }

  /** On a free port, or on that of a copy that is gone. */
  async start(label: string, port = '0', settings: Readonly<Record<string, string>> = {}): Promise<ExampleCopy> {
    const env = { ...process.env, ...settings, DATABASE_URL: this.#connectionString, COPY: label, PORT: port };
    const { args } = this.#example;
    const child = spawn(process.execPath, args, { cwd: folderOf(this.#example), env, stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    await expect.poll(() => output, { timeout: 30_000 }).toMatch(/listens on http:\S+/);
    return { label, process: child, origin: /listens on (\S+)/.exec(output)?.[1] ?? '', output: () => output };
  }

  /** Two copies of which the first holds, and the second knows where it is. */
  async startPair(): Promise<[ExampleCopy, ExampleCopy]> {
    const first = await this.start('first');
    await expect.poll(() => holderThrough(first), { timeout: 10_000 }).toBe('first');
    const second = await this.start('second');
    await expect.poll(() => holderThrough(second), { timeout: 10_000 }).toBe('first');
    return [first, second];
  }
}

export interface RunAnswer {
  readonly status: number;
  readonly by?: string;
  readonly token?: string;
  readonly note?: string;
}

/** Asks for a run by hand, as the button of the page does. */
export async function runNow({ origin }: ExampleCopy, note: string): Promise<RunAnswer> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${origin}/maintenance/runs`, { method: 'POST', headers, body: JSON.stringify({ note }) });
  return { status: answer.status, ...((await answer.json()) as object) };
}

/** Which copy runs what is asked of this one. */
export async function holderThrough(copy: ExampleCopy): Promise<string | undefined> {
  return (await runNow(copy, 'who?')).by;
}
