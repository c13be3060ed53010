import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Booked, Look, Told } from '../checker/history.ts';
import type { Line } from '../worker/config.ts';

export interface Logs {
  readonly told: Told[];
  readonly looks: Look[];
  readonly booked: Booked[];
  readonly claims: { readonly claim: string; readonly by: string }[];
  readonly refused: Map<string, number>;
  readonly wrong: string[];
  /** Rows that a stop left to their lease. */
  leftByStop: number;
  handlers: number;
}

/** Reads what every process wrote down that ever ran. */
export async function readLogs(folder: string): Promise<Logs> {
  const logs: Logs = {
    told: [],
    looks: [],
    booked: [],
    claims: [],
    refused: new Map(),
    wrong: [],
    leftByStop: 0,
    handlers: 0,
  };
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))) {
    const by = basename(file, '.jsonl');
    for await (const text of createInterface({ input: createReadStream(join(folder, file)), crlfDelay: Infinity })) {
      const line = parse(text);
      if (line !== null) take(logs, line, by);
    }
  }
  return logs;
}

function take(logs: Logs, line: Line, by: string): void {
  switch (line.k) {
    case 'told':
      logs.told.push({ ...line, by });
      return;
    case 'look':
      logs.looks.push({ ...line, by });
      return;
    case 'booked':
      logs.booked.push({ ...line, by });
      return;
    case 'claim':
      if (line.rows > 0) logs.claims.push({ claim: line.claim, by });
      return;
    case 'begin':
      logs.handlers += 1;
      return;
    case 'refused':
      logs.refused.set(`${line.by} ${line.code}`, (logs.refused.get(`${line.by} ${line.code}`) ?? 0) + 1);
      return;
    case 'wrong':
      logs.wrong.push(`${by}: ${line.what}`);
      return;
    case 'stopped':
      logs.leftByStop += line.running + line.unsettled;
  }
}

/** A process that was killed may leave half a line, and only as its last. */
function parse(text: string): Line | null {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}
