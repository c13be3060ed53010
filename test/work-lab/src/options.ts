import { parseArgs } from 'node:util';
import { randomInteger } from '../../lab/src/random.ts';
import { readInteger, readNumber } from '../../support/read-number.ts';

/** One scenario, so that nothing is to be chosen. */
const SCENARIOS = ['rows'] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export interface WorkLabOptions {
  readonly only: readonly ScenarioName[];
  /** How long faults strike; setting up, the last rows and the verdict come on top. */
  readonly minutes: number;
  readonly rows: number;
  readonly processes: number;
  readonly seed: number;
  readonly json: boolean;
}

type Sizes = Pick<WorkLabOptions, 'minutes' | 'rows' | 'processes'>;

const FULL: Sizes = { minutes: 9, rows: 100_000, processes: 8 };
const QUICK: Sizes = { minutes: 0.35, rows: 3_000, processes: 5 };

export const USAGE = `Usage: lab:work [--minutes ${FULL.minutes}] [--rows ${FULL.rows}] [--quick] [--seed <n>] [--json]`;

const SHORTEST_MINUTES = 0.1;
const FEWEST_ROWS = 100;

/** @throws {Error} whose message is for the person who typed the arguments. */
export function readOptions(args: readonly string[]): WorkLabOptions {
  const { values } = parseArgs({
    args: args.filter((arg) => arg !== '--'),
    options: {
      minutes: { type: 'string' },
      rows: { type: 'string' },
      quick: { type: 'boolean', default: false },
      seed: { type: 'string', default: String(randomInteger(Math.random, 1_000_000)) },
      json: { type: 'boolean', default: false },
    },
  });
  const sizes = values.quick ? QUICK : FULL;
  return {
    ...sizes,
    only: SCENARIOS,
    minutes: values.minutes === undefined ? sizes.minutes : readNumber('minutes', values.minutes, SHORTEST_MINUTES),
    rows: values.rows === undefined ? sizes.rows : readInteger('rows', values.rows, FEWEST_ROWS),
    seed: readInteger('seed', values.seed, 0),
    json: values.json,
  };
}
