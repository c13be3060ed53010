import { type Figure, figure } from '../../../test/support/figures.ts';
import { progress } from '../support/progress.ts';
import type { Bench } from './bench.ts';
import { OURS } from './contestants.ts';
import type { SendOrder } from './processes/event-streams.ts';
import type { Received } from './processes/readers.ts';
import { medianFigure } from './ratios.ts';

const STREAMS = 1_000;
const PATIENCE_MS = 20_000;
const GROUPS = ['direct', 'proxied'] as const;

type Group = (typeof GROUPS)[number];
type Round = Readonly<Record<Group, Received>>;

interface Traffic {
  readonly name: string;
  readonly order: Omit<SendOrder, 'group'>;
  readonly target: string | null;
}

const TRAFFIC: readonly Traffic[] = [
  // A thousand events a second, evenly.
  { name: 'steady', order: { eventsPerStream: 1, batch: 10, everyMs: 10 }, target: '<= 5' },
  // One event to all streams at once: an event waits for those before it, on the way through one more process twice.
  { name: 'burst', order: { eventsPerStream: 4, batch: STREAMS, everyMs: 250 }, target: null },
];

/** A thousand open event streams through one proxy, and as many past it, by turns. */
export async function measureStreams(bench: Bench): Promise<Figure[]> {
  const readers = bench.start('readers.ts');
  const holderOrigin = await bench.holder.call<string>('origin');
  const proxy = bench.start('proxy.ts', { args: [OURS, holderOrigin], measured: true });
  const origins: Readonly<Record<Group, string>> = { direct: holderOrigin, proxied: await proxy.call<string>('origin') };
  progress(`opening ${STREAMS} event streams`);
  for (const group of GROUPS) await readers.call('open', { origin: origins[group], group, count: STREAMS });

  const send = async (group: Group, order: Traffic['order']): Promise<Received> => {
    const events = STREAMS * order.eventsPerStream;
    await bench.holder.call('send', { ...order, group });
    return readers.call<Received>('received', { group, events, withinMs: PATIENCE_MS });
  };
  const figures: Figure[] = [];
  for (const traffic of TRAFFIC) {
    const rounds: Round[] = [];
    for (let round = 0; round < bench.effort.streamRounds; round += 1) {
      progress(`${STREAMS} event streams, ${traffic.name}: round ${round + 1} of ${bench.effort.streamRounds}`);
      rounds.push({ direct: await send('direct', traffic.order), proxied: await send('proxied', traffic.order) });
    }
    figures.push(...toFigures(traffic, rounds));
  }
  return figures;
}

function toFigures({ name, order, target }: Traffic, rounds: readonly Round[]): Figure[] {
  const sent = STREAMS * order.eventsPerStream * rounds.length;
  const received = sum(rounds.map(({ proxied }) => proxied.events));
  return [
    figure(`eventsLost@${name}`, sent - received, '', '= 0'),
    figure(`eventsOutOfOrder@${name}`, sum(rounds.map(({ proxied }) => proxied.outOfOrder)), '', '= 0'),
    medianFigure(
      `lagOverDirect@${name}`,
      rounds.map(({ direct, proxied }) => proxied.medianLagMs - direct.medianLagMs),
      'ms',
      target,
    ),
    medianFigure(
      `directLag@${name}`,
      rounds.map(({ direct }) => direct.medianLagMs),
      'ms',
    ),
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
