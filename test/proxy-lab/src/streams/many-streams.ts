import { waitFor } from '../../../lab/src/run/wait.ts';
import { type Figure, figure } from '../../../support/figures.ts';
import type { EventStream } from '../client/event-stream.ts';
import type { InstanceProcess } from '../processes/instance-process.ts';
import { readRuns } from '../processes/read-runs.ts';
import type { Town } from '../processes/town.ts';
import { quantile } from '../quantile.ts';
import { eventually, giveTime, openStreams } from './open-streams.ts';

const EVENTS = 20;
const EVERY_MS = 100;
const LEAVING_SHARE = 0.3;
const LEAVE_EVERY_MS = 4;
const LEAVE_BOUND_MS = 100;

interface Cast {
  readonly gateway: InstanceProcess;
  readonly holder: InstanceProcess;
  readonly count: number;
}

/** Many streams at once through one proxy: every event in its order; and then clients that leave. */
export async function manyStreams(town: Town, { gateway, holder, count }: Cast): Promise<Figure[]> {
  const streams = await openStreams(town, { name: 'many', count, entry: gateway });
  await holder.publish(EVENTS, EVERY_MS);
  await giveTime(town, () => streams.every(({ order }) => order.last === EVENTS));
  const missing = streams.reduce((sum, { order }) => sum + (EVENTS - order.last), 0);
  const outOfOrder = streams.reduce((sum, { order }) => sum + order.outOfOrder, 0);
  const ended = streams.filter(({ ended: how }) => how !== null).length;
  const leaving = await leave(town, streams.slice(0, Math.ceil(count * LEAVING_SHARE)));
  for (const stream of streams) stream.leave();
  return [
    figure('streamsAtOnce', streams.length, '', `>= ${count}`),
    figure('eventsDelivered', streams.length * EVENTS - missing, ''),
    figure('eventsMissing', missing, '', '= 0'),
    figure('eventsOutOfOrder', outOfOrder, '', '= 0'),
    figure('streamsEndedEarly', ended, '', '= 0'),
    figure('upstreamClosedMedian', quantile(leaving, 0.5), 'ms'),
    figure('upstreamClosedP99', quantile(leaving, 0.99), 'ms', `<= ${LEAVE_BOUND_MS}`),
    figure('upstreamClosedWorst', quantile(leaving, 1), 'ms'),
  ];
}

/** How long after a client has left the holder sees it, each: by the one clock that all processes share. */
async function leave(town: Town, streams: readonly EventStream[]): Promise<number[]> {
  for (const stream of streams) {
    stream.leave();
    await waitFor(LEAVE_EVERY_MS, town.signal);
  }
  const seen = new Map<string, number>();
  await eventually(
    town,
    async () => {
      for (const { id, at } of (await readRuns(town.folder)).left) seen.set(id, at);
      return streams.every(({ id }) => seen.has(id));
    },
    'the holder did not hear of all clients that had left',
  );
  return streams.map(({ id, leftAt }) => ((seen.get(id) ?? Infinity) - (leftAt ?? 0)) / 1_000);
}
