import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

export interface ShowArguments {
  /** No pauses and no screen: each line is a check. */
  readonly ci: boolean;
  /** The last line is one JSON object. */
  readonly json: boolean;
  /** Decides at which moment of a heartbeat interval each fault strikes, and whom. */
  readonly seed: number;
}

/** @param script what to run, such as `demo` */
export function usageOf(script: string): string {
  return `Usage: pnpm run ${script} [--ci] [--json] [--seed <number>]
  --ci          no pauses and no screen: checks every statement, and ends with "${script}: ok" or the reason
  --json        prints the figures as one JSON object, in the last line
  --seed        repeats the moments at which the faults struck
DATABASE_URL    a PostgreSQL to use instead of a throw-away one: a database is created there, and dropped at the end`;
}

/** @throws {TypeError} for an argument that is none of these. */
export function readArguments(given: readonly string[]): ShowArguments {
  const { values } = parseArgs({
    // `pnpm run demo -- --ci` hands the dashes on.
    args: given.filter((argument) => argument !== '--'),
    options: { ci: { type: 'boolean' }, json: { type: 'boolean' }, seed: { type: 'string' } },
  });
  const seed = values.seed === undefined ? randomInt(1, 1_000_000) : Number(values.seed);
  if (!Number.isSafeInteger(seed)) throw new TypeError(`--seed is ${values.seed}; give a whole number.`);
  return { ci: values.ci ?? false, json: values.json ?? false, seed };
}

/** Numbers from 0 up to, not including, 1, the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}
