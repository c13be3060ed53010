import { type Figure, figure } from '../../../support/figures.ts';
import type { LabOptions } from './options.ts';
import type { LabResult } from './run-lab.ts';

const FAULTS_PER_MINUTE = 500 / 30;
const FAULT_KINDS = 8;

/** What the lab promises, with what it found. */
export function labFigures(
  { verdict, faults, writes, refused, failures }: LabResult,
  { minutes, processes }: LabOptions,
): Figure[] {
  const { takeovers } = verdict;
  const fewest = Math.floor(minutes * FAULTS_PER_MINUTE);
  const kinds = new Set(faults.map(({ kind }) => kind)).size;
  return [
    figure('overlaps', verdict.overlaps.length, '', '= 0'),
    figure('staleFencedWrites', verdict.staleWrites.length, '', '= 0'),
    figure('lateTakeovers', takeovers.violations.length, '', '= 0'),
    figure('worstTakeover', takeovers.worstMs, 'ms', `<= ${takeovers.boundMs}`),
    figure('instancesThatStoppedCompeting', verdict.stopped.length, '', '= 0'),
    figure('tokensOutOfOrder', verdict.tokenDisorder.length, '', '= 0'),
    figure('unpairedLosses', verdict.unpaired.length, '', '= 0'),
    figure('unprovokedLosses', verdict.unprovoked.length, '', '= 0'),
    figure('recordingErrors', verdict.recordingErrors.length, '', '= 0'),
    figure('processFailures', failures.length + verdict.wrong.length, '', '= 0'),
    figure('faults', faults.length, '', `>= ${fewest}`),
    figure('faultKinds', kinds, '', `>= ${Math.min(FAULT_KINDS, fewest)}`),
    figure('terms', verdict.terms, '', '>= 1'),
    figure('takeovers', takeovers.count, '', '>= 1'),
    figure('fencedWrites', writes.all, '', '>= 1'),
    figure('fencedWritesAfterLoss', writes.late, ''),
    figure('refusedWrites', refused.all, '', '>= 1'),
    figure('contests', processes, ''),
  ];
}
