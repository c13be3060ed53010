import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Left, Run } from '../checker/run.ts';
import type { Line } from '../instance/config.ts';

export interface Logs {
  readonly runs: readonly Run[];
  readonly left: readonly Left[];
}

/** Reads what every process wrote down that ever ran. */
export async function readRuns(folder: string): Promise<Logs> {
  const runs: Run[] = [];
  const left: Left[] = [];
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))) {
    let instance = '';
    for await (const text of createInterface({ input: createReadStream(join(folder, file)), crlfDelay: Infinity })) {
      const line = parse(text);
      if (line?.k === 'start') instance = line.instance;
      else if (line?.k === 'run') runs.push({ id: line.id, instance, at: line.at, token: line.token });
      else if (line?.k === 'left') left.push({ id: line.id, at: line.at });
    }
  }
  return { runs, left };
}

/** A process that was killed may leave half a line, and only as its last. */
function parse(text: string): Line | null {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}
