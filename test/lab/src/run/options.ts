import { parseArgs } from 'node:util';
import { resolveDuration } from '@leasehold/core';
import { randomInteger } from '../random.ts';
import { readInteger, readNumber } from '../../../support/read-number.ts';

export interface LabOptions {
  /** How long faults strike; setting up, the last contest and the verdict come on top. */
  readonly minutes: number;
  readonly processes: number;
  readonly roles: number;
  readonly lease: string;
  readonly leaseMs: number;
  readonly seed: number;
}

export const USAGE = `Usage: lab [--minutes 1] [--processes 5] [--roles 20] [--lease 2s] [--seed <n>] [--json]`;

const FEWEST_PROCESSES = 3;

/** @throws {Error} whose message is for the person who typed the arguments. */
export function readOptions(args: readonly string[]): LabOptions & { readonly json: boolean } {
  const { values } = parseArgs({
    args: args.filter((arg) => arg !== '--'),
    options: {
      minutes: { type: 'string', default: '1' },
      processes: { type: 'string', default: '5' },
      roles: { type: 'string', default: '20' },
      lease: { type: 'string', default: '2s' },
      seed: { type: 'string', default: String(randomInteger(Math.random, 1_000_000)) },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    minutes: readNumber('minutes', values.minutes, 0.1),
    processes: readInteger('processes', values.processes, FEWEST_PROCESSES),
    roles: readInteger('roles', values.roles, 1),
    lease: values.lease,
    leaseMs: resolveDuration('--lease', values.lease, { min: 1_000, max: 60_000 }),
    seed: readInteger('seed', values.seed, 0),
    json: values.json,
  };
}
