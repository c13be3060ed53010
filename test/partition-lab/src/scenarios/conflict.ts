import { until, waitFor } from '../../../lab/src/run/wait.ts';
import { figure } from '../../../support/figures.ts';
import { COUNT } from '../instance/config.ts';
import type { InstanceProcess } from '../processes/instance-process.ts';
import { Town } from '../processes/town.ts';
import type { Scenario } from '../scenario.ts';
import { failuresOf, gather, judgeOwners } from './evidence.ts';
import { stopGracefully } from './strikes.ts';

const OTHER_COUNT = 32;
const CODE = 'LEASEHOLD_PARTITION_COUNT';
const INSTANCES = 2;
const EVEN_DEADLINE_MS = 20_000;
const WATCHED_MS = 3_000;

/** Instances with another count: beside those that are there, in the same moment, and once the others are gone. */
export const conflict: Scenario = async ({ options, server, signal, show }) => {
  const { leaseMs, seed, races } = options;
  await using town = await Town.found({ server, name: 'conflict', leaseMs, seed, takesTurns: true, signal });
  show(() => `conflict: ${town.everyone.length} instances so far`);
  const late = await beside(town);
  let bothRefused = 0;
  let bothTookPart = 0;
  for (let number = 0; number < races && !signal.aborted; number += 1) {
    const tookPart = await race(town);
    if (tookPart === 0) bothRefused += 1;
    if (tookPart === 2) bothTookPart += 1;
  }
  const evidence = await gather(town);
  const { figures: owners, violations } = judgeOwners('conflict', evidence);
  const refusedTerms = [...evidence.terms.values()].flat().filter(({ holder }) => late.refused.includes(holder));
  const told = evidence.logs.warnings.filter(({ what }) => what.includes(String(OTHER_COUNT)) && what.includes(String(COUNT)));
  const figures = [
    ...owners,
    figure('refusedAtStart@conflict', late.code === CODE ? 1 : 0, '', '= 1'),
    figure('toldInTheLog@conflict', told.length, '', '>= 1'),
    figure('termsOfTheRefused@conflict', refusedTerms.length, '', '= 0'),
    figure('oldOnesThatLost@conflict', late.lost, '', '= 0'),
    figure('tookPartWhenAlone@conflict', late.tookPart ? 1 : 0, '', '= 1'),
    figure('races@conflict', races, ''),
    figure('racesBothTookPart@conflict', bothTookPart, '', '= 0'),
    figure('racesBothRefused@conflict', bothRefused, ''),
    figure('turns@conflict', evidence.turns.length, '', '>= 1'),
  ];
  return { figures, failures: await failuresOf(town, { figures, violations }) };
};

interface Late {
  readonly code: string | null;
  /** Ids of those that may never hold anything. */
  readonly refused: readonly string[];
  /** Roles that those who were there lost meanwhile. */
  readonly lost: number;
  readonly tookPart: boolean;
}

/** Two that are there go on while one is refused at its start, and one waits in the background until they are gone. */
async function beside(town: Town): Promise<Late> {
  const old = await Promise.all(Array.from({ length: INSTANCES }, () => town.spawn()));
  await town.even(EVEN_DEADLINE_MS);
  const before = await town.admin.holders();
  const refused = await town.launch({ count: OTHER_COUNT });
  const code = await refused.start();
  const waiting = await town.launch({ count: OTHER_COUNT, startup: 'background' });
  await waiting.start();
  await waitFor(WATCHED_MS, town.signal);
  const after = await town.admin.holders();
  const lost = [...before].filter(([role, holder]) => after.get(role) !== holder).length;
  await refused.kill();
  for (const one of old) await stopGracefully(one);
  const tookPart = await until(async () => (await held(town, waiting)) === OTHER_COUNT, {
    deadlineMs: EVEN_DEADLINE_MS,
    signal: town.signal,
  });
  await stopGracefully(waiting);
  return { code, refused: [refused.instance].filter((id) => id !== ''), lost, tookPart };
}

/** Two counts in the same moment: how many of them took part. */
async function race(town: Town): Promise<number> {
  const both = await Promise.all([town.launch({ count: COUNT }), town.launch({ count: OTHER_COUNT })]);
  const refusals = await Promise.all(both.map((one) => one.start()));
  await waitFor(WATCHED_MS / 3, town.signal);
  for (const [place, one] of both.entries()) {
    if (refusals[place] === null) await stopGracefully(one);
    else await one.kill();
  }
  return refusals.filter((code) => code === null).length;
}

async function held(town: Town, { instance }: InstanceProcess): Promise<number> {
  return [...(await town.admin.holders()).values()].filter((holder) => holder === instance).length;
}
