import { Town } from '../processes/town.ts';
import type { Scenario } from '../scenario.ts';
import { headTimes } from '../streams/head-times.ts';
import { manyStreams } from '../streams/many-streams.ts';
import { untilItForwards } from '../streams/open-streams.ts';
import { roleChange } from '../streams/role-change.ts';

/** Of fewer, the hundredth part is none, and one that the machine was busy for would be all that counts. */
const FEWEST_HEADS = 300;

/** Event streams: heads at once, all events in order, closed when the client leaves, and what becomes of them at a role change. */
export const streams: Scenario = async ({ options, server, signal, show }) => {
  await using town = await Town.found({ server, name: 'streams', leaseMs: options.leaseMs, signal });
  const keeping = await town.spawn({ competes: false, onRoleChange: 'keep' });
  const closing = await town.spawn({ competes: false, onRoleChange: 'close' });
  await Promise.all([town.spawn(), town.spawn()]);
  const holder = await town.nextHolder();
  await Promise.all([keeping, closing].map((gateway) => untilItForwards(town, gateway)));
  const count = options.streams;
  const headCount = Math.max(count, FEWEST_HEADS);
  show(() => `streams: heads of ${headCount} streams, one after the other`);
  const heads = await headTimes(town, { gateway: keeping, holder, count: headCount });
  show(() => `streams: ${count} streams at once`);
  const many = await manyStreams(town, { gateway: keeping, holder, count });
  show(() => `streams: ${count} streams and a change of holder`);
  const half = Math.ceil(count / 2);
  const changed = await roleChange(town, { keeping, closing, holder: await town.nextHolder(), count: half });
  return { figures: [...heads, ...many, ...changed], failures: [] };
};
