import { acquisitionRules, tokenRules } from './acquisition.ts';
import { batchRules, nameRules } from './batches.ts';
import { fenceRules, openFenceRules } from './fence.ts';
import type { ConformanceCase, ConformanceHarness } from './harness.ts';
import { deletionRules, durationRules, lockRules } from './interventions.ts';
import { lifecycleRules } from './lifecycle.ts';
import { arrivalRules, membershipRules, onlyAsMemberRules } from './membership.ts';
import { observationRules } from './observation.ts';
import { raceRules } from './races.ts';
import { releaseRules } from './release.ts';
import { renewalRules } from './renewal.ts';
import { caseOf, type Rule } from './stage.ts';
import { wakeUpRules } from './wake-ups.ts';

/**
 * Every rule of `LeaseStore` as a case to run under any test runner. A store that passes them all keeps what Leasehold
 * promises on it.
 *
 * Gotchas: run them one after another, since a case may move the time of all, and on rows that nothing else uses, since a
 * few have fixed role names.
 *
 * @example
 * ```ts
 * import { test } from 'node:test';
 * import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
 * import { leaseStoreConformance, manualClock } from '@leasehold/testing';
 *
 * const clock = manualClock();
 * const database = new MemoryDatabase({ clock });
 * const cases = leaseStoreConformance({
 *   createStore: () => memoryStore({ database }),
 *   transaction: (work) => database.transaction(work),
 *   advance: (ms) => clock.advance(ms),
 * });
 * for (const { name, run } of cases) test(name, run);
 * ```
 */
export function leaseStoreConformance(harness: ConformanceHarness): readonly ConformanceCase[] {
  return rulesFor(harness).map((rule) => caseOf(rule, harness));
}

function rulesFor(harness: ConformanceHarness): Rule[] {
  return [
    ...acquisitionRules,
    ...tokenRules,
    ...renewalRules,
    ...releaseRules,
    ...observationRules,
    ...batchRules,
    ...nameRules,
    ...raceRules,
    ...fenceRules,
    ...openFenceRules,
    ...lifecycleRules,
    ...membershipRules,
    ...onlyAsMemberRules,
    ...(harness.wakesUp === false ? [] : [...wakeUpRules, ...arrivalRules]),
    ...(harness.deleteRow === undefined ? [] : deletionRules),
    ...(harness.changeLease === undefined ? [] : durationRules),
    ...(harness.lockRow === undefined ? [] : lockRules),
  ];
}
