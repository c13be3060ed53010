import { type Random, randomBetween, seededRandom } from '../../../lab/src/random.ts';
import { until, waitFor } from '../../../lab/src/run/wait.ts';
import { type Figure, figure } from '../../../support/figures.ts';
import { judgeBalance } from '../checker/balance.ts';
import { epochsOf, withStops } from '../checker/epochs.ts';
import { handoversOf, releasesOf } from '../checker/handovers.ts';
import { findRunsOfNonOwners } from '../checker/runs.ts';
import { vacanciesOf } from '../checker/vacancies.ts';
import { COUNT, roleNames } from '../instance/config.ts';
import type { PartitionLabOptions } from '../options.ts';
import type { InstanceProcess } from '../processes/instance-process.ts';
import { Town } from '../processes/town.ts';
import type { Scenario } from '../scenario.ts';
import { type Evidence, failuresOf, gather, type Judgement, judgeOwners } from './evidence.ts';
import { drawStrike, KINDS, type Struck, strike } from './strikes.ts';

const FIRST = 3;
const MOST_HEARTBEATS = 8;
/** The renew interval is this part of the lease. */
const RENEWALS = 3;
const MOST_MOVES = 1.1;
/** How often changes of members come so close together that nothing comes to rest in between. */
const BURST_SHARE = 0.3;
const BURST = 3;
const BETWEEN_MS = [0, 900] as const;
/** Long enough for something to move that should not. */
const REST_MS = [1_400, 2_400] as const;

/** Members come and go at random, one after the other and several at once, while each takes turns of the keys it owns. */
export const fleet: Scenario = async ({ options, server, signal, show }) => {
  const { leaseMs, seed, minutes } = options;
  await using town = await Town.found({ server, name: 'fleet', leaseMs, seed, takesTurns: true, signal });
  const struck: Struck[] = [];
  const failures: string[] = [];
  const endsAt = performance.now() + minutes * 60_000;
  show(() => `fleet: ${struck.length} changes · ${town.well.length} instances · ${left(endsAt)} s left`);
  const random = seededRandom(seed);
  // Alone at first: of several that start in one moment, the first takes what it does not know to be another's.
  await town.spawn();
  await settle(town, leaseMs, random);
  await Promise.all(Array.from({ length: FIRST - 1 }, () => town.spawn()));
  while (performance.now() < endsAt && !signal.aborted) {
    await settle(town, leaseMs, random);
    struck.push(...(await round(town, random, failures)));
  }
  await settle(town, leaseMs, random);
  const judgedUntil = await town.now();
  const stopped = await contest(town, options);
  const evidence = await gather(town);
  const judgement = judge(evidence, { endsAt: judgedUntil, heartbeatMs: leaseMs / RENEWALS, struck });
  const figures = [
    figure('membershipChanges@fleet', struck.length, '', '>= 1'),
    ...KINDS.map((kind) => figure(`${kind}@fleet`, struck.filter((one) => one.kind === kind).length, '')),
    ...judgement.figures,
    figure('stoppedCompeting@fleet', stopped.length, '', '= 0'),
  ];
  return { figures, failures: await failuresOf(town, { ...judgement, figures }, [...failures, ...stopped]) };
};

function left(endsAt: number): number {
  return Math.max(0, Math.round((endsAt - performance.now()) / 1_000));
}

/** Whether it did come to rest is for the checker to say. */
async function settle(town: Town, leaseMs: number, random: Random): Promise<void> {
  await town.even(leaseMs + (2 * MOST_HEARTBEATS * leaseMs) / RENEWALS);
  await waitFor(randomBetween(random, REST_MS), town.signal);
}

async function round(town: Town, random: Random, failures: string[]): Promise<Struck[]> {
  const changes = random() < BURST_SHARE ? BURST : 1;
  const strikes: Promise<Struck | null>[] = [];
  for (let change = 0; change < changes && !town.signal.aborted; change += 1) {
    if (change > 0) await waitFor(randomBetween(random, BETWEEN_MS), town.signal);
    const one = strike(town, drawStrike(town.well.length, random), random);
    strikes.push(one.catch((error: unknown) => (failures.push(String(error)), null)));
  }
  return (await Promise.all(strikes)).filter((one) => one !== null);
}

/** Each in turn is the only one that is not frozen: it has to win every role, whatever it has been through. */
async function contest(town: Town, { leaseMs, contests }: PartitionLabOptions): Promise<string[]> {
  const losers: string[] = [];
  for (const one of town.well.slice(0, contests)) {
    const others = town.well.filter((other) => other !== one);
    for (const other of others) other.freeze();
    const won = await until(async () => (await heldBy(town, one)) === COUNT, { deadlineMs: 4 * leaseMs, signal: town.signal });
    for (const other of others) other.thaw();
    if (!won && !town.signal.aborted) losers.push(`${one.instance} alone did not take every role`);
  }
  return losers;
}

async function heldBy(town: Town, { instance }: InstanceProcess): Promise<number> {
  return [...(await town.admin.holders()).values()].filter((holder) => holder === instance).length;
}

function judge(
  evidence: Evidence,
  { endsAt, heartbeatMs, struck }: { endsAt: number; heartbeatMs: number; struck: readonly Struck[] },
): Judgement {
  const owners = judgeOwners('fleet', evidence);
  const stops = new Map(struck.flatMap(({ instance, stoppedAt }) => (stoppedAt === undefined ? [] : [[instance, stoppedAt]])));
  const epochs = epochsOf(withStops(evidence.members, stops), COUNT, endsAt);
  const rules = { roles: roleNames(COUNT), heartbeatMs, mostHeartbeats: MOST_HEARTBEATS };
  const isReleased = releasesOf(evidence.changes);
  const balance = judgeBalance(epochs, handoversOf(evidence.terms, isReleased), rules);
  const strangers = findRunsOfNonOwners(evidence.logs.runs, evidence.terms, evidence.clock);
  const vacancies = vacanciesOf(evidence.terms, isReleased, new Set(stops.keys()));
  const figures: Figure[] = [
    ...owners.figures,
    figure('turnsOfNonOwners@fleet', strangers.length, '', '= 0'),
    figure('epochs@fleet', epochs.length, '', '>= 1'),
    figure('epochsEven@fleet', balance.settled, '', '>= 1'),
    figure('worstUntilEven@fleet', balance.worstHeartbeats, 'heartbeats', `<= ${MOST_HEARTBEATS}`),
    figure('moves@fleet', balance.moves, '', '>= 1'),
    figure('leastMoves@fleet', balance.leastMoves, '', '>= 1'),
    figure('movesAgainstLeast@fleet', balance.moves / balance.leastMoves, 'x', `<= ${MOST_MOVES}`),
    figure('movedTwice@fleet', balance.movedTwice.length, '', '= 0'),
    figure('vacantAfterStop@fleet', vacancies.afterStop, 'ms'),
    figure('vacantAfterHandOver@fleet', vacancies.afterHandOver, 'ms'),
    figure('vacantAfterExpiry@fleet', vacancies.afterExpiry, 'ms'),
    figure('turns@fleet', evidence.turns.length, '', '>= 1'),
    figure('lateTurns@fleet', evidence.turns.filter(({ late }) => late).length, ''),
    figure('refusedTurns@fleet', evidence.logs.refused.all, '', '>= 1'),
  ];
  return { figures, violations: [...owners.violations, ...strangers, ...balance.movedTwice, ...balance.uneven] };
}
