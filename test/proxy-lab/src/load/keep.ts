import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allViolations, type LoadHistory, type Verdict } from '../checker/judge.ts';
import type { Town } from '../processes/town.ts';

/** What was wrong, one line each; the logs of such a run are kept and named, with what the clients saw. */
export async function keepWhatFailed(
  town: Town,
  scenario: string,
  found: { verdict: Verdict; history: LoadHistory },
): Promise<string[]> {
  const failures = allViolations(found.verdict).map(({ check, what }) => `${scenario}: ${check}: ${what}`);
  if (failures.length === 0) return [];
  town.keepsLogs = true;
  const { outcomes, fates } = found.history;
  await writeFile(join(town.folder, 'outcomes.json'), toLines(outcomes));
  await writeFile(join(town.folder, 'fates.json'), toLines(fates));
  return [`${scenario}: logs are kept in ${town.folder}`, ...failures];
}

/** An array with one line for each. */
function toLines(items: readonly unknown[]): string {
  return `[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]\n`;
}
