import { inspect } from 'node:util';
import type { Logger } from '@leasehold/core';
import { Logger as NestLogger } from '@nestjs/common';

/** Leasehold's lines on the logger of the application. Nest's takes text, so that the fields follow the message in it. */
export function nestLogger(context: string): Logger {
  const logger = new NestLogger(context);
  return {
    debug: (fields, message) => logger.debug(line(fields, message)),
    info: (fields, message) => logger.log(line(fields, message)),
    warn: (fields, message) => logger.warn(line(fields, message)),
    error: (fields, message) => logger.error(line(fields, message)),
  };
}

function line(fields: object, message: string): string {
  const shown = Object.entries(fields).map(([name, value]) => ` ${name}=${show(value)}`);
  return message + shown.join('');
}

/** Of an error the message: its stack is many lines, and a line for each change of state is what is promised. */
function show(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(value.message);
  return typeof value === 'string' || typeof value === 'bigint'
    ? String(value)
    : inspect(value, { breakLength: Number.POSITIVE_INFINITY });
}
