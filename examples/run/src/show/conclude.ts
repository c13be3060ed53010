import { report } from '../../../../test/support/figures.ts';
import type { ShowArguments } from './arguments.ts';
import type { Checklist } from './checklist.ts';

export interface Conclusion {
  /** What was run, such as `demo`. */
  readonly name: string;
  /** Version of the server. */
  readonly postgres: string;
  readonly checks: Checklist;
}

/** Prints the figures and the verdict, and returns the exit code. */
export function conclude({ json, seed }: ShowArguments, { name, postgres, checks }: Conclusion): 0 | 1 {
  const { figures, failures } = checks;
  const missed = figures.filter(({ ok }) => !ok).map((one) => `${one.name} is ${one.value} ${one.unit}`.trimEnd());
  const verdict = [...failures, ...missed].join('; ');
  const sayVerdict = (): void => void process.stdout.write(verdict === '' ? `${name}: ok\n` : `${name}: FAILED: ${verdict}\n`);
  if (json) sayVerdict();
  const code = report({ name, seed, postgres, figures, failures }, { json });
  if (!json) sayVerdict();
  return code;
}
