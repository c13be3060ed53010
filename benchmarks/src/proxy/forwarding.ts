import type { Figure } from '../../../test/support/figures.ts';
import { progress } from '../support/progress.ts';
import { REQUEST_FIELDS, type Scenario, SCENARIOS } from './answers.ts';
import type { Bench, Subject } from './bench.ts';
import { OURS, PEERS, targetFor } from './contestants.ts';
import { medianFigure, mergeSlots, ratiosOf, type Slots } from './ratios.ts';

const NAMES = [OURS, ...PEERS.map(({ name }) => name)];

/** Every contestant in front of the same holder, under the same load, in turn. */
export async function measureForwarding(bench: Bench): Promise<Figure[]> {
  const holderOrigin = await bench.holder.call<string>('origin');
  const all: Record<string, Slots> = {};
  for (let generation = 1; generation <= bench.effort.generations; generation += 1) {
    const measured = await measureGeneration(bench, holderOrigin, `generation ${generation}`);
    for (const [scenario, slots] of Object.entries(measured)) all[scenario] = mergeSlots(all[scenario] ?? {}, slots);
  }
  return SCENARIOS.flatMap((scenario) => toFigures(scenario, all[scenario.name] ?? {}));
}

/**
 * A process keeps, for as long as it lives, what it happened to become: which code was compiled, and with 64 KiB bodies above all
 * how often its heap is collected. So everybody starts anew several times. By the name of the scenario.
 */
async function measureGeneration(bench: Bench, holderOrigin: string, title: string): Promise<Record<string, Slots>> {
  const subjects = await Promise.all(NAMES.map((name) => start(bench, name, holderOrigin)));
  for (const subject of subjects) {
    progress(`${title}: ${subject.name} gives the right answers, and warms up`);
    for (const scenario of SCENARIOS) {
      await requireRightAnswer(subject, scenario);
      await bench.warmUp(subject, scenario);
    }
  }
  const { forwardingMs, generations } = bench.effort;
  const forMs = forwardingMs / generations / SCENARIOS.length;
  const measured: Record<string, Slots> = {};
  for (const scenario of SCENARIOS) {
    measured[scenario.name] = await bench.measureInTurn(subjects, scenario, { title: `${title}: ${scenario.title}`, forMs });
  }
  for (const { process } of subjects) process[Symbol.dispose]();
  return measured;
}

async function start(bench: Bench, name: string, holderOrigin: string): Promise<Subject> {
  const process = bench.start('proxy.ts', { args: [name, holderOrigin], measured: true });
  return { name, process, origin: await process.call<string>('origin') };
}

/** What passes something else on is not compared. */
async function requireRightAnswer({ name, origin }: Subject, { title, method, path, body, answer }: Scenario): Promise<void> {
  const response = await fetch(`${origin}${path}`, { method, headers: REQUEST_FIELDS, body: body ?? null });
  if (response.status !== 200 || (await response.text()) !== answer) throw new Error(`${name} does not forward a ${title} right`);
}

function toFigures(scenario: Scenario, slots: Slots): Figure[] {
  const ours = slots[OURS] ?? [];
  return PEERS.flatMap((peer) => {
    const theirs = slots[peer.name] ?? [];
    const name = `${scenario.name}@${peer.name}`;
    return [
      medianFigure(name, ratiosOf(ours, theirs, 'requestsPerCpuSecond'), 'x', targetFor(peer, scenario)),
      medianFigure(`${scenario.name}Throughput@${peer.name}`, ratiosOf(ours, theirs, 'requestsPerSecond'), 'x'),
    ];
  });
}
