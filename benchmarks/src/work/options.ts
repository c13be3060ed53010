import { parseArgs } from 'node:util';

export const USAGE = 'Usage: bench:work [--quick] [--json]';

/** How long everything is measured: in many short rounds, so that what else the machine does falls on a few of them. */
export interface Effort {
  /** How long rounds are begun. */
  readonly roundsMs: number;
  readonly fewestRounds: number;
  /** In one slot of who has a full share of them. */
  readonly rows: number;
  /** Whose claims are explained: ours, and then the hand-written one. */
  readonly claimsExplained: number;
}

const FULL: Effort = { roundsMs: 200_000, fewestRounds: 4, rows: 10_000, claimsExplained: 2 };
const QUICK: Effort = { roundsMs: 10_000, fewestRounds: 2, rows: 5_000, claimsExplained: 1 };

export interface BenchOptions {
  readonly json: boolean;
  readonly quick: boolean;
  readonly effort: Effort;
}

/** @throws {Error} whose message is for the person who typed the arguments. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: args.filter((arg) => arg !== '--'),
    options: { json: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
  });
  return { ...values, effort: values.quick ? QUICK : FULL };
}
