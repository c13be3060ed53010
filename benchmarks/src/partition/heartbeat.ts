import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createLeasehold, type HeartbeatMessage } from '@leasehold/core';
import { postgresStore } from '@leasehold/core/postgres';
import { type Figure, figure } from '../../../test/support/figures.ts';
import { countQueries } from '../support/count-queries.ts';
import { median } from '../support/median.ts';
import { progress } from '../support/progress.ts';

const PARTITIONS = 16;
const COUNT = 256;
const BEATS = 10;

/** Statements of an instance that holds 4,096 roles of 16 fair partitions, for each of its heartbeats. */
export async function measureHeartbeat(connectionString: string): Promise<Figure[]> {
  progress(`heartbeats of ${PARTITIONS} × ${COUNT} roles`);
  const leasehold = createLeasehold({
    store: postgresStore({ connectionString, schema: 'bench_partition' }),
    leaseDuration: '6s',
    renewInterval: '500ms',
  });
  for (let n = 0; n < PARTITIONS; n += 1) leasehold.partition(`partition-${n}`, { count: COUNT, balance: 'fair' });
  await leasehold.start();
  await until(() => leasehold.leases.heldRoles().length === PARTITIONS * COUNT);
  const beats: HeartbeatMessage[] = [];
  const onBeat = (message: unknown): void => void beats.push(message as HeartbeatMessage);
  subscribe('leasehold:heartbeat', onBeat);
  // From the end of one heartbeat to the end of another: none is counted half.
  await until(() => beats.length > 0);
  const before = beats.length;
  const statements = await countQueries(() => until(() => beats.length >= before + BEATS));
  unsubscribe('leasehold:heartbeat', onBeat);
  await leasehold.stop();
  const measured = beats.slice(before);
  if (measured.some(({ renewed }) => renewed !== PARTITIONS * COUNT)) throw new Error('a heartbeat did not renew all roles');
  return [
    figure(`statementsPerHeartbeat@${PARTITIONS}x${COUNT}`, statements / measured.length, '', '= 1'),
    figure(`heartbeat@${PARTITIONS}x${COUNT}`, median(measured.map(({ durationMs }) => durationMs)), 'ms'),
  ];
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('the partitions were not held in a minute');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
