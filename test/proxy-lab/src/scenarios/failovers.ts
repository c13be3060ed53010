import http from 'node:http';
import { randomBetween, seededRandom, shuffled } from '../../../lab/src/random.ts';
import { waitFor } from '../../../lab/src/run/wait.ts';
import { figure } from '../../../support/figures.ts';
import { judge } from '../checker/judge.ts';
import type { Outcome } from '../client/outcome.ts';
import { planSmallRequest } from '../client/plan-request.ts';
import { send } from '../client/send.ts';
import { loadFigures } from '../load/figures.ts';
import { loadHistory } from '../load/history.ts';
import { keepWhatFailed } from '../load/keep.ts';
import { OpenLoop } from '../load/open-loop.ts';
import { longestRefusalMs } from '../load/refusals.ts';
import { type StrikeKind, strikeHolder } from '../load/strike.ts';
import type { InstanceProcess } from '../processes/instance-process.ts';
import { Town } from '../processes/town.ts';
import type { Scenario } from '../scenario.ts';

const INSTANCES = 4;
const KINDS: readonly StrikeKind[] = ['stop', 'kill', 'freeze'];
const BETWEEN_MS = [200, 800] as const;

/** A steady load on all instances, the holder among them, while the role changes hands again and again. */
export const failovers: Scenario = async ({ options, server, signal, show }) => {
  await using town = await Town.found({ server, name: 'failovers', leaseMs: options.leaseMs, signal });
  await Promise.all(Array.from({ length: INSTANCES }, () => town.spawn()));
  await town.nextHolder();
  const random = seededRandom(options.seed);
  const agent = new http.Agent({ keepAlive: true });
  const next = (number: number): Promise<Outcome> => {
    const { alive } = town;
    return send(planSmallRequest(`f${number}`, random), alive[number % alive.length] as InstanceProcess, agent);
  };
  const load = new OpenLoop(options.rate, next);
  let done = 0;
  show(() => `failovers: ${done} of ${options.failovers} failovers · ${load.sent} requests`);
  try {
    for (const kind of planStrikes(options.failovers, options.seed)) {
      await waitFor(randomBetween(random, BETWEEN_MS), signal);
      await strikeHolder(town, kind);
      done += 1;
    }
    await waitFor(BETWEEN_MS[1], signal);
  } catch (error) {
    await load.stop();
    throw error;
  }
  const outcomes = await load.stop();
  agent.destroy();
  const history = await loadHistory(town, outcomes);
  const verdict = judge(history);
  return {
    figures: [
      figure('failovers@failovers', done, '', `>= ${options.failovers}`),
      figure('requests@failovers', outcomes.length, ''),
      ...loadFigures('failovers', verdict, history),
      figure('longestRefusal@failovers', longestRefusalMs(outcomes), 'ms'),
    ],
    failures: await keepWhatFailed(town, 'failovers', { verdict, history }),
  };
};

/** As many of each kind, in an order that the seed names. */
function planStrikes(count: number, seed: number): StrikeKind[] {
  const kinds = Array.from({ length: count }, (_, index) => KINDS[index % KINDS.length] as StrikeKind);
  return shuffled(kinds, seededRandom(seed + 1));
}
