import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { WorkerLog } from '../checker/history.ts';
import { LogFolder } from './fold-log.ts';
import type { Line } from './line.ts';

/** Reads the log of every process that ever ran. */
export async function readLogs(folder: string): Promise<WorkerLog[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort();
  const logs: WorkerLog[] = [];
  for (const file of files) logs.push(await readLog(join(folder, file)));
  return logs;
}

async function readLog(path: string): Promise<WorkerLog> {
  const folder = new LogFolder();
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const line = parse(text);
    if (line !== null) folder.add(line);
  }
  return folder.finish();
}

/** A process that was killed may leave half a line, and only as its last. */
function parse(text: string): Line | null {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}
