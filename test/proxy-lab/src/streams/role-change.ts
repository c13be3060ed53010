import { waitFor } from '../../../lab/src/run/wait.ts';
import { type Figure, figure } from '../../../support/figures.ts';
import { spreadOf } from '../checker/spread.ts';
import type { InstanceProcess } from '../processes/instance-process.ts';
import type { Town } from '../processes/town.ts';
import { giveTime, openStreams } from './open-streams.ts';

const EVENTS = 3;
const EVERY_MS = 50;
/** Heartbeats are sent three times for each lease. */
const RENEWALS = 3;
/** Uniform over the interval, less what chance and the rounds of the check take. */
const NARROWEST = 0.5;
const DENSEST = 0.35;

interface Cast {
  /** Forwards with `onRoleChange: 'keep'`. */
  readonly keeping: InstanceProcess;
  /** Forwards with `onRoleChange: 'close'`. */
  readonly closing: InstanceProcess;
  readonly holder: InstanceProcess;
  readonly count: number;
}

/** Streams that are open while the role changes hands: kept all, or closed all, each at a time of its own. */
export async function roleChange(town: Town, { keeping, closing, holder, count }: Cast): Promise<Figure[]> {
  const kept = await openStreams(town, { name: 'keep', count, entry: keeping });
  const closed = await openStreams(town, { name: 'close', count, entry: closing });
  holder.tell({ do: 'stepDown' });
  await town.nextHolder(holder);
  await giveTime(town, () => closed.every(({ ended }) => ended !== null));
  // Those that are kept have had the same time to be closed by mistake.
  await waitFor(town.leaseMs / RENEWALS, town.signal);
  await holder.publish(EVENTS, EVERY_MS);
  await giveTime(town, () => kept.every(({ order }) => order.last === EVENTS));
  const over = closed.filter(({ ended }) => ended !== null);
  const spread = spreadOf(
    over.map(({ endedAt }) => endedAt),
    (town.leaseMs / RENEWALS) * 1_000,
  );
  for (const stream of [...kept, ...closed]) stream.leave();
  return [
    figure(
      'streamsLost@keep',
      count - kept.filter(({ ended, order }) => ended === null && order.last === EVENTS).length,
      '',
      '= 0',
    ),
    figure('streamsStillOpen@close', count - over.length, '', '= 0'),
    figure('endedAsComplete@close', over.filter(({ ended }) => ended === 'complete').length, '', '= 0'),
    figure('spreadOfRenewInterval@close', spread.width, 'x', `>= ${NARROWEST}`),
    figure('mostInATenthOfIt@close', spread.densest, 'x', `<= ${DENSEST}`),
  ];
}
