import { diagnosticChannels, type DiagnosticChannel, type DiagnosticMessages } from '@leasehold/core';
import { nowUs } from '../../../lab/src/monotonic.ts';
import type { WriteLine } from '../../../lab/src/worker/log-file.ts';
import type { Line } from './config.ts';

/** Writes down what the worker tells of itself. */
export function recordWork(write: WriteLine<Line>): void {
  on('leasehold:work.claimed', ({ claim, rows, buried }) => write({ k: 'claim', at: nowUs(), claim, rows, buried }));
  on('leasehold:work.settled', ({ claim, row, outcome, fate }) => {
    write({ k: 'told', row: String(Reflect.get(row, 'id')), claim, outcome, fate });
  });
  on('leasehold:work.refused', ({ error }) => write({ k: 'refused', by: 'worker', code: codeOf(error) }));
}

function on<Name extends DiagnosticChannel>(name: Name, listener: (message: DiagnosticMessages[Name]) => void): void {
  diagnosticChannels.get(name)?.subscribe((message) => listener(message as DiagnosticMessages[Name]));
}

/** Of the error, or of what it was caused by. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error) return String(error.code);
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
