import type { Figure } from '../../../test/support/figures.ts';
import { progress } from '../support/progress.ts';
import { REQUEST_FIELDS, type Scenario, SCENARIOS } from './answers.ts';
import type { Bench, Slots, Subject } from './bench.ts';
import { OURS, PEERS, targetFor } from './contestants.ts';
import { medianFigure, ratiosOf } from './ratios.ts';

/** Every contestant in front of the same holder, under the same load, in turn. */
export async function measureForwarding(bench: Bench): Promise<Figure[]> {
  const holderOrigin = await bench.holder.call<string>('origin');
  const subjects = await Promise.all([OURS, ...PEERS.map(({ name }) => name)].map((name) => start(bench, name, holderOrigin)));
  for (const subject of subjects) {
    progress(`${subject.name}: right answers, and warming up`);
    for (const scenario of SCENARIOS) {
      await requireRightAnswer(subject, scenario);
      await bench.warmUp(subject, scenario);
    }
  }
  const figures: Figure[] = [];
  const forMs = bench.effort.forwardingMs / SCENARIOS.length;
  for (const scenario of SCENARIOS) {
    figures.push(...toFigures(scenario, await bench.measureInTurn(subjects, scenario, { title: scenario.title, forMs })));
  }
  return figures;
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
