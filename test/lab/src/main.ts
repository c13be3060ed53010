/** The command `lab`: see README.md. */
import { rm } from 'node:fs/promises';
import { report } from '../../support/figures.ts';
import { allViolations } from './checker/check.ts';
import { planFaults } from './plan/plan-faults.ts';
import { labFigures } from './run/figures.ts';
import { type LabOptions, readOptions, USAGE } from './run/options.ts';
import { type LabResult, runLab } from './run/run-lab.ts';
import { verbs } from './verbs/index.ts';

const SHOWN = 20;

try {
  process.exit(await main());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

async function main(): Promise<number> {
  const options = parse();
  if (options === null) return 2;
  const { seed, minutes, processes, roles, json } = options;
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort(name));
  console.error(`lab: ${processes} processes, ${roles} roles, ${minutes} minutes of faults, seed ${seed}`);
  const plan = planFaults({ ...options, kinds: verbs });
  const result = await runLab({ ...options, plan, signal: controller.signal });
  const figures = labFigures(result, options);
  const failures = [...result.failures, ...allViolations(result.verdict).map(({ check, what }) => `${check}: ${what}`)];
  const { postgres } = result;
  const { aborted } = controller.signal;
  const ok = failures.length === 0 && (aborted || figures.every((one) => one.ok));
  if (aborted) failures.push('interrupted');
  const shown = [...failures.slice(0, SHOWN), ...(await keepOrRemove(result, ok, options))];
  return report({ name: 'lab', seed, postgres, figures, failures: shown }, { json });
}

function parse(): ReturnType<typeof readOptions> | null {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    return null;
  }
}

/** The logs of a failed run are kept and named, with the command that runs it again. */
async function keepOrRemove({ folder }: LabResult, ok: boolean, options: LabOptions): Promise<string[]> {
  if (ok) {
    await rm(folder, { recursive: true, force: true });
    return [];
  }
  const { minutes, processes, roles, lease, seed } = options;
  return [
    `logs are kept in ${folder}`,
    `again: pnpm run lab --minutes ${minutes} --processes ${processes} --roles ${roles} --lease ${lease} --seed ${seed}`,
  ];
}
