import { parseArgs } from 'node:util';
import { randomInteger } from '../../lab/src/random.ts';
import { readNumber } from '../../support/read-number.ts';

const SCENARIOS = ['fleet', 'rolling', 'conflict'] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export interface PartitionLabOptions {
  readonly only: readonly ScenarioName[];
  /** How long members come and go in `fleet`; the others come on top. */
  readonly minutes: number;
  readonly seed: number;
  readonly json: boolean;
  readonly leaseMs: number;
  /** Instances that have to win everything at the end of `fleet`, one after the other: so many at most. */
  readonly contests: number;
  /** Instances that are restarted in `rolling`. */
  readonly restarts: number;
  /** Times that two counts start in the same moment in `conflict`. */
  readonly races: number;
}

type Sizes = Pick<PartitionLabOptions, 'minutes' | 'contests' | 'restarts' | 'races'>;

const FULL: Sizes = { minutes: 5, contests: 100, restarts: 8, races: 8 };
const QUICK: Sizes = { minutes: 0.1, contests: 1, restarts: 1, races: 1 };

export const USAGE = `Usage: lab:partition [--only ${SCENARIOS.join(',')}] [--minutes ${FULL.minutes}] [--quick] [--seed <n>] [--json]`;

/** Long enough for a busy machine, and the shorter the sooner a role is taken over. */
const LEASE_MS = 2_000;
const SHORTEST_MINUTES = 0.1;

/** @throws {Error} whose message is for the person who typed the arguments. */
export function readOptions(args: readonly string[]): PartitionLabOptions {
  const { values } = parseArgs({
    args: args.filter((arg) => arg !== '--'),
    options: {
      only: { type: 'string', default: SCENARIOS.join(',') },
      minutes: { type: 'string' },
      quick: { type: 'boolean', default: false },
      seed: { type: 'string', default: String(randomInteger(Math.random, 1_000_000)) },
      json: { type: 'boolean', default: false },
    },
  });
  const sizes = values.quick ? QUICK : FULL;
  const seed = readNumber('seed', values.seed, 0);
  if (!Number.isSafeInteger(seed)) throw new Error(`--seed is ${JSON.stringify(values.seed)}; give a whole number.`);
  return {
    ...sizes,
    only: readScenarios(values.only),
    minutes: values.minutes === undefined ? sizes.minutes : readNumber('minutes', values.minutes, SHORTEST_MINUTES),
    seed,
    json: values.json,
    leaseMs: LEASE_MS,
  };
}

function readScenarios(text: string): ScenarioName[] {
  const names = text.split(',');
  for (const name of names) {
    if (!(SCENARIOS as readonly string[]).includes(name))
      throw new Error(`--only names '${name}'; give some of ${SCENARIOS.join(',')}.`);
  }
  return SCENARIOS.filter((name) => names.includes(name));
}
