import { setImmediate as nextRound } from 'node:timers/promises';
import { type Figure, figure } from '../../../support/figures.ts';
import { EventStream } from '../client/event-stream.ts';
import type { Entry } from '../client/send.ts';
import type { Town } from '../processes/town.ts';
import { quantile } from '../quantile.ts';

/** Within how long the head has to be there, though no event was sent. */
const BOUND_MS = 50;
const GIVE_UP_MS = 5_000;

/** Streams without events, one after the other, through the proxy and straight to the holder in turn. */
export async function headTimes(
  town: Town,
  { gateway, holder, count }: { readonly gateway: Entry; readonly holder: Entry; readonly count: number },
): Promise<Figure[]> {
  const proxied: number[] = [];
  const direct: number[] = [];
  for (let number = 0; number < count && !town.signal.aborted; number += 1) {
    proxied.push(await headTime(`proxied-${number}`, gateway));
    direct.push(await headTime(`direct-${number}`, holder));
  }
  return [
    figure('streamHeads@proxied', proxied.length, '', `>= ${count}`),
    figure('streamHeadMedian@proxied', quantile(proxied, 0.5), 'ms', `<= ${BOUND_MS}`),
    figure('streamHeadP99@proxied', quantile(proxied, 0.99), 'ms', `<= ${BOUND_MS}`),
    figure('streamHeadWorst@proxied', quantile(proxied, 1), 'ms'),
    figure('streamHeadMedian@direct', quantile(direct, 0.5), 'ms'),
    figure('streamHeadP99@direct', quantile(direct, 0.99), 'ms'),
    figure('streamHeadWorst@direct', quantile(direct, 1), 'ms'),
  ];
}

async function headTime(id: string, entry: Entry): Promise<number> {
  const stream = new EventStream(id, entry);
  const givenUpAt = performance.now() + GIVE_UP_MS;
  while (stream.headAt === null && stream.ended === null && performance.now() < givenUpAt) await nextRound();
  stream.leave();
  return stream.headAt === null ? Number.POSITIVE_INFINITY : (stream.headAt - stream.startedAt) / 1_000;
}
