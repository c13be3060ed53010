import type { Logger } from '../logger.ts';
import { errorText } from './storable.ts';

const ignore = (): void => {};

/**
 * For a table without a logger: a worker that can claim nothing, or whose outcomes are refused, looks like one with nothing
 * to do. The first line of each kind is a warning of the process; the others would be one for each row.
 */
export function processWarnings(): Logger {
  const told = new Set<string>();
  const tell = (fields: object, message: string): void => {
    const [kind = message] = message.split(':');
    if (told.has(kind)) return;
    told.add(kind);
    const { table, err } = fields as { readonly table?: string; readonly err?: unknown };
    const why = err === undefined || message !== kind ? '' : `: ${errorText(err, { maxLength: 500 })}`;
    const text = `work table "${table}": ${message}${why} (told once; give workTable() a logger, such as console, to hear of it each time)`;
    process.emitWarning(text, { type: 'LeaseholdWarning' });
  };
  return { debug: ignore, info: ignore, warn: tell, error: tell };
}
