import { seededRandom } from '../../../lab/src/random.ts';
import { waitFor } from '../../../lab/src/run/wait.ts';
import { figure } from '../../../support/figures.ts';
import { releasesOf } from '../checker/handovers.ts';
import type { Outcome } from '../checker/history.ts';
import { outagesOf } from '../checker/outages.ts';
import { findAnswersWithoutRun, findDoubledRuns, findRunsOfNonOwners } from '../checker/runs.ts';
import { vacanciesOf } from '../checker/vacancies.ts';
import { KeyedLoad } from '../load/keyed-load.ts';
import type { InstanceProcess } from '../processes/instance-process.ts';
import { Town } from '../processes/town.ts';
import type { Scenario } from '../scenario.ts';
import { type Evidence, failuresOf, gather, type Judgement, judgeOwners } from './evidence.ts';
import { stopGracefully } from './strikes.ts';

const INSTANCES = 4;
const PER_SECOND = 200;
const LONGEST_OUTAGE_MS = 300;
const EVEN_DEADLINE_MS = 20_000;
const REST_MS = 500;

/** A steady load of keyed requests while one instance after the other is stopped and started anew, as a deploy does. */
export const rolling: Scenario = async ({ options, server, signal, show }) => {
  const { leaseMs, seed, restarts } = options;
  await using town = await Town.found({ server, name: 'rolling', leaseMs, seed, takesTurns: false, signal });
  const failures: string[] = [];
  await Promise.all(Array.from({ length: INSTANCES }, () => town.spawn()));
  await waitUntilEven(town, failures);
  const load = new KeyedLoad({ town, random: seededRandom(seed), perSecond: PER_SECOND });
  const stopped = new Set<string>();
  show(() => `rolling: ${stopped.size} of ${restarts} restarts · ${load.sent} requests`);
  try {
    for (let restart = 0; restart < restarts && !signal.aborted; restart += 1) {
      await waitFor(REST_MS, signal);
      const [oldest] = town.well as [InstanceProcess];
      stopped.add(oldest.instance);
      await stopGracefully(oldest);
      await town.spawn();
      await waitUntilEven(town, failures);
    }
    await waitFor(REST_MS, signal);
  } catch (error) {
    failures.push(String(error));
  }
  const outcomes = await load.stop();
  if (load.skipped > 0) failures.push(`the machine is too slow for this load: ${load.skipped} requests could not be sent`);
  const judgement = judge(await gather(town), outcomes, stopped);
  const figures = [figure('restarts@rolling', stopped.size, '', `>= ${restarts}`), ...judgement.figures];
  return { figures, failures: await failuresOf(town, { ...judgement, figures }, failures) };
};

async function waitUntilEven(town: Town, failures: string[]): Promise<void> {
  const even = await town.even(EVEN_DEADLINE_MS);
  if (!even && !town.signal.aborted) failures.push(`not even ${EVEN_DEADLINE_MS} ms after a start`);
}

function judge(evidence: Evidence, outcomes: readonly Outcome[], stopped: ReadonlySet<string>): Judgement {
  const { terms, changes, clock } = evidence;
  const { runs } = evidence.logs;
  const owners = judgeOwners('rolling', evidence);
  const strangers = findRunsOfNonOwners(runs, terms, clock);
  const doubled = findDoubledRuns(runs);
  const without = findAnswersWithoutRun(outcomes, runs);
  const first = outcomes.filter(({ isRetry }) => !isRetry);
  const refused = first.filter(({ status }) => status === 503);
  const vacancies = vacanciesOf(terms, releasesOf(changes), stopped);
  const outages = outagesOf(outcomes).map(({ ms }) => ms);
  outages.sort((a, b) => a - b);
  return {
    figures: [
      ...owners.figures,
      figure('requests@rolling', first.length, '', '>= 1'),
      figure('answeredByNonOwner@rolling', strangers.length, '', '= 0'),
      figure('executedTwice@rolling', doubled.length, '', '= 0'),
      figure('answeredNotExecuted@rolling', without.length, '', '= 0'),
      figure('unanswered@rolling', outcomes.filter(({ status }) => status === null).length, '', '= 0'),
      figure('otherAnswers@rolling', outcomes.filter(isOther).length, '', '= 0'),
      figure('refused@rolling', (100 * refused.length) / first.length, '%'),
      figure('outages@rolling', outages.length, ''),
      figure('medianOutage@rolling', outages[Math.floor(outages.length / 2)] ?? 0, 'ms'),
      figure('longestOutage@rolling', outages.at(-1) ?? 0, 'ms', `<= ${LONGEST_OUTAGE_MS}`),
      figure('vacantAfterStop@rolling', vacancies.afterStop, 'ms'),
      figure('vacantAfterHandOver@rolling', vacancies.afterHandOver, 'ms'),
    ],
    violations: [...owners.violations, ...strangers, ...doubled, ...without],
  };
}

function isOther({ status }: Outcome): boolean {
  return status !== null && status !== 200 && status !== 503;
}
