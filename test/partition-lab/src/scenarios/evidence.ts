import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClockMap } from '../../../lab/src/checker/clock-map.ts';
import { databaseTerms } from '../../../lab/src/checker/database-terms.ts';
import type { DatabaseTerm, Violation } from '../../../lab/src/checker/history.ts';
import { findStaleWrites } from '../../../lab/src/checker/stale-writes.ts';
import { findTermOverlaps } from '../../../lab/src/checker/term-overlaps.ts';
import { findTokenDisorder } from '../../../lab/src/checker/tokens.ts';
import { type Figure, figure } from '../../../support/figures.ts';
import { withClient } from '../../../support/with-client.ts';
import { findDoubleOwners } from '../checker/key-owners.ts';
import { findTurnOverlaps } from '../checker/turn-overlaps.ts';
import { collectPartition, type PartitionEvidence } from '../database/collect.ts';
import { type Logs, readLogs } from '../processes/read-logs.ts';
import type { Town } from '../processes/town.ts';

export interface Evidence extends PartitionEvidence {
  readonly terms: ReadonlyMap<string, readonly DatabaseTerm[]>;
  readonly logs: Logs;
  readonly clock: ClockMap;
}

/**
 * All that the database and the processes know of a scenario. The logs first, as the processes go on: whatever is in a log was in
 * the database before, and a run that was read after the terms would seem to have none.
 */
export async function gather(town: Town): Promise<Evidence> {
  const logs = await readLogs(town.folder);
  const evidence = await withClient(town.databaseUrl, collectPartition);
  const clock = new ClockMap(await town.clock.stop());
  return { ...evidence, terms: databaseTerms(evidence.changes), logs, clock };
}

export interface Judgement {
  readonly figures: readonly Figure[];
  readonly violations: readonly Violation[];
}

/** What has to hold whatever happens. */
export function judgeOwners(name: string, { terms, turns, logs }: Evidence): Judgement {
  const overlaps = findTermOverlaps(terms);
  const disorder = findTokenDisorder(terms);
  const doubles = findDoubleOwners(terms, logs.keyMaps);
  const stale = findStaleWrites(turns, terms);
  const turnOverlaps = findTurnOverlaps(turns);
  return {
    figures: [
      figure(`twoOwners@${name}`, overlaps.length + doubles.length, '', '= 0'),
      figure(`tokensOutOfOrder@${name}`, disorder.length, '', '= 0'),
      figure(`staleFencedWrites@${name}`, stale.length, '', '= 0'),
      figure(`turnOverlaps@${name}`, turnOverlaps.length, '', '= 0'),
    ],
    violations: [...overlaps, ...doubles, ...disorder, ...stale, ...turnOverlaps],
  };
}

/** The lines of what was wrong; the logs of such a scenario are kept and named. */
export async function failuresOf(
  town: Town,
  { figures, violations }: Judgement,
  more: readonly string[] = [],
): Promise<string[]> {
  const failures = [...town.deaths, ...more, ...violations.map(({ check, what }) => `${check}: ${what}`)];
  if (failures.length === 0 && figures.every(({ ok }) => ok)) {
    await rm(town.folder, { recursive: true, force: true });
    return [];
  }
  town.keepsLogs = true;
  await writeFile(join(town.folder, 'evidence.json'), JSON.stringify(await withClient(town.databaseUrl, collectPartition)));
  return [`logs are kept in ${town.folder}`, ...failures];
}
