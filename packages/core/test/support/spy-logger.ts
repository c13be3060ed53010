import type { Logger } from '@leasehold/core';

export interface SpyLogger extends Logger {
  readonly lines: { readonly level: keyof Logger; readonly fields: object; readonly text: string }[];
}

/** A logger that keeps what it is told. */
export function spyLogger(): SpyLogger {
  const lines: { readonly level: keyof Logger; readonly fields: object; readonly text: string }[] = [];
  const log = (level: keyof Logger) => (fields: object, text: string) => void lines.push({ level, fields, text });
  return { lines, debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
}
