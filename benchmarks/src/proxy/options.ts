import { parseArgs } from 'node:util';

export const USAGE = 'Usage: bench:proxy [--quick] [--json]';

/** How long everything is measured: in many short rounds, so that what else the machine does falls on a few of them. */
export interface Effort {
  /** For all scenarios together, and all contestants. */
  readonly forwardingMs: number;
  /** How often all contestants start anew. */
  readonly generations: number;
  readonly passThroughMs: number;
  readonly streamRounds: number;
  /** To each contestant, of each kind, before it is measured for the first time: until its code is compiled. */
  readonly warmUpRequests: number;
}

const FULL: Effort = { forwardingMs: 180_000, generations: 3, passThroughMs: 40_000, streamRounds: 8, warmUpRequests: 1_500 };
const QUICK: Effort = { forwardingMs: 18_000, generations: 1, passThroughMs: 6_000, streamRounds: 2, warmUpRequests: 1_000 };

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
