import { closeSync, openSync, writeSync } from 'node:fs';
import type { Line } from '../log/line.ts';

export type WriteLine = (line: Line) => void;

/**
 * Appends lines synchronously. What `write` was given is in the page cache and outlives a `kill -9`; a stream would lose
 * the last lines, which are the interesting ones.
 */
export function openLogFile(path: string): { readonly write: WriteLine; readonly close: () => void } {
  const file = openSync(path, 'a');
  return {
    write: (line) => void writeSync(file, `${JSON.stringify(line)}\n`),
    close: () => closeSync(file),
  };
}
