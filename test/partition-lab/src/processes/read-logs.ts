import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { KeyMap, Run } from '../checker/history.ts';
import type { Line } from '../instance/config.ts';

export interface Logs {
  readonly runs: readonly Run[];
  readonly keyMaps: readonly KeyMap[];
  /** Writes that the fence refused, and those among them that were tried after the term was over. */
  readonly refused: { readonly all: number; readonly late: number };
  readonly warnings: readonly { readonly instance: string; readonly what: string }[];
}

/** Reads what every process wrote down that ever ran. */
export async function readLogs(folder: string): Promise<Logs> {
  const runs: Run[] = [];
  const keyMaps: KeyMap[] = [];
  const warnings: { instance: string; what: string }[] = [];
  const refused = { all: 0, late: 0 };
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))) {
    let instance = '';
    for await (const text of createInterface({ input: createReadStream(join(folder, file)), crlfDelay: Infinity })) {
      const line = parse(text);
      if (line?.k === 'start') keyMaps.push({ instance: (instance = line.instance), roles: line.roles });
      else if (line?.k === 'run') runs.push({ id: line.id, role: line.role, instance, at: line.at, token: line.token });
      else if (line?.k === 'warned') warnings.push({ instance, what: line.what });
      else if (line?.k === 'refused') {
        refused.all += 1;
        if (line.late) refused.late += 1;
      }
    }
  }
  return { runs, keyMaps, refused, warnings };
}

/** A process that was killed may leave half a line, and only as its last. */
function parse(text: string): Line | null {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}
