import { type Figure, figure } from '../../../support/figures.ts';
import type { LoadHistory, Verdict } from '../checker/judge.ts';
import type { Outcome } from '../client/outcome.ts';

/** What every load promises, with what was found. */
export function loadFigures(scenario: string, verdict: Verdict, { outcomes, stalls, ownStalls }: LoadHistory): Figure[] {
  const zero = (name: string, found: readonly unknown[]): Figure => figure(`${name}@${scenario}`, found.length, '', '= 0');
  const refused = outcomes.filter(({ status }) => status === 503).length;
  const answered = outcomes.filter(({ by }) => by !== null).length;
  return [
    zero('hangs', verdict.hangs),
    zero('truncatedTakenForWhole', verdict.falselyComplete),
    zero('executedTwice', verdict.doubled),
    zero('answeredNotExecuted', verdict.missing),
    zero('refusedAndExecuted', verdict.refusedAndRun),
    zero('executedNeverSent', verdict.stray),
    zero('executedOnNonHolder', verdict.ofNonHolders),
    zero('neitherHolderNor503', verdict.strange),
    zero('silentFailures', verdict.silent),
    zero('spoiltUploads', verdict.spoilt),
    figure(`answeredByHolder@${scenario}`, (answered / outcomes.length) * 100, '%', '> 0'),
    figure(`refused@${scenario}`, (refused / outcomes.length) * 100, '%'),
    figure(`worstHead@${scenario}`, worstHeadMs(outcomes), 'ms'),
    // Of the machine, and of those that were frozen.
    figure(
      `longestStall@${scenario}`,
      Math.max(0, ...[...stalls.values(), ownStalls].flat().map(({ from, to }) => to - from)) / 1_000,
      'ms',
    ),
  ];
}

function worstHeadMs(outcomes: readonly Outcome[]): number {
  const times = outcomes.map(({ startedAt, headAt }) => (headAt === null ? 0 : headAt - startedAt));
  return times.reduce((worst, time) => Math.max(worst, time), 0) / 1_000;
}
