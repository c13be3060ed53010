import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Left, Run } from '../checker/run.ts';
import type { Line } from '../instance/config.ts';
import type { Span } from '../stalls.ts';

export interface Logs {
  readonly runs: readonly Run[];
  readonly left: readonly Left[];
  /** When each instance did not run. */
  readonly stalls: ReadonlyMap<string, readonly Span[]>;
}

/** Reads what every process wrote down that ever ran. */
export async function readRuns(folder: string): Promise<Logs> {
  const runs: Run[] = [];
  const left: Left[] = [];
  const stalls = new Map<string, Span[]>();
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))) {
    let instance = '';
    let ofInstance: Span[] = [];
    for await (const text of createInterface({ input: createReadStream(join(folder, file)), crlfDelay: Infinity })) {
      const line = parse(text);
      if (line?.k === 'start') stalls.set((instance = line.instance), (ofInstance = []));
      else if (line?.k === 'run') runs.push({ id: line.id, instance, at: line.at, token: line.token });
      else if (line?.k === 'stall') ofInstance.push({ from: line.from, to: line.to });
      else if (line?.k === 'left') left.push({ id: line.id, at: line.at });
    }
  }
  return { runs, left, stalls };
}

/** A process that was killed may leave half a line, and only as its last. */
function parse(text: string): Line | null {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}
