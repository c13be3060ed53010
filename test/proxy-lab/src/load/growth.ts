import { type Figure, figure } from '../../../support/figures.ts';
import type { Measured } from '../instance/config.ts';

/**
 * What a process may have grown by after a load, in MiB: code goes on being compiled for a while. A leak of 26 bytes for each
 * request of a full run would show.
 */
const HEAP_TOLERANCE = 2;
/** A heartbeat may be under way, with its limit. */
const TIMER_TOLERANCE = 2;

/** What processes hold on to after a load that they did not before; the worst of them counts. */
export function growthFigures(scenario: string, before: readonly Measured[], after: readonly Measured[]): Figure[] {
  const growth = (of: (measured: Measured) => number): number =>
    Math.max(...after.map((measured, index) => of(measured) - of(before[index] as Measured)));
  return [
    figure(
      `socketsLeft@${scenario}`,
      growth(({ sockets }) => sockets),
      '',
      '<= 0',
    ),
    figure(
      `timersLeft@${scenario}`,
      growth(({ timers }) => timers),
      '',
      `<= ${TIMER_TOLERANCE}`,
    ),
    figure(`heapGrowth@${scenario}`, growth(({ heapBytes }) => heapBytes) / 2 ** 20, 'MiB', `<= ${HEAP_TOLERANCE}`),
  ];
}
