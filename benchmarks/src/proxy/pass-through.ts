import type { Figure } from '../../../test/support/figures.ts';
import { type Scenario, SCENARIOS } from './answers.ts';
import type { Bench, Subject } from './bench.ts';
import { medianFigure, ratiosOf, type Slot } from './ratios.ts';

/** What the holder loses by the proxy that lets everything pass. */
export async function measurePassThrough(bench: Bench): Promise<Figure[]> {
  const process = bench.start('pass-through.ts', { measured: true });
  const origins = await process.call<Record<string, string>>('origins');
  const subjects = Object.entries(origins).map(([name, origin]): Subject => ({ name, origin, process }));
  const [scenario] = SCENARIOS as [Scenario];
  for (const subject of subjects) await bench.warmUp(subject, scenario);
  const turns = { title: 'pass-through on the holder', forMs: bench.effort.passThroughMs };
  const { bare = [], holder = [], bareAgain = [] } = await bench.measureInTurn(subjects, scenario, turns);
  return [
    medianFigure('passThroughLoss', lossesOf(holder, [bare, bareAgain], 'requestsPerCpuSecond'), '%', '< 2'),
    medianFigure('passThroughLossNoise', lossesOf(bareAgain, [bare], 'requestsPerCpuSecond'), '%'),
    medianFigure('passThroughLossThroughput', lossesOf(holder, [bare, bareAgain], 'requestsPerSecond'), '%'),
  ];
}

/** Against the mean of the slot before and the slot after: what changes steadily on the machine is then no loss. */
function lossesOf(slots: readonly Slot[], bare: readonly (readonly Slot[])[], metric: keyof Slot): number[] {
  const ratios = bare.map((one) => ratiosOf(one, slots, metric));
  return slots.map((_, round) => {
    const mean = ratios.reduce((sum, ofOne) => sum + (ofOne[round] ?? Number.NaN), 0) / ratios.length;
    return 100 * (1 - 1 / mean);
  });
}
