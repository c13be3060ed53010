import { closeSync, openSync, writeSync } from 'node:fs';
import type { Line } from '../log/line.ts';

/** Of the lab's own lines, if nothing else is said. */
export type WriteLine<T = Line> = (line: T) => void;

/**
 * Appends lines synchronously. What `write` was given is in the page cache and outlives a `kill -9`; a stream would lose
 * the last lines, which are the interesting ones.
 */
export function openLogFile<T = Line>(path: string): { readonly write: WriteLine<T>; readonly close: () => void } {
  const file = openSync(path, 'a');
  return {
    write: (line) => void writeSync(file, `${JSON.stringify(line)}\n`),
    close: () => closeSync(file),
  };
}
