import { createLeasehold, type Leasehold } from '@leasehold/core';
import { postgresStore } from '@leasehold/core/postgres';
import pg from 'pg';
import { type Figure, figure } from '../../../test/support/figures.ts';
import { median } from '../support/median.ts';
import { progress } from '../support/progress.ts';

const ROUNDS = 20;
const IDLE_ROLES = 1_000;

/** From the call of stop() on the holder until `isHeld` on the next, with the default timing, by LISTEN. */
export async function measureTakeover(connectionString: string): Promise<Figure[]> {
  progress('takeover after stop');
  const times: number[] = [];
  let holder = await start(connectionString, ['takeover']);
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = await start(connectionString, ['takeover']);
    const lease = next.get('takeover');
    const began = performance.now();
    const stopped = holder.stop();
    while (!lease.isHeld) await new Promise((resolve) => setTimeout(resolve, 1));
    times.push(performance.now() - began);
    await stopped;
    holder = next;
  }
  await holder.stop();
  return [
    figure('takeoverAfterStopMedian', median(times), 'ms', '<= 250'),
    figure('takeoverAfterStopWorst', Math.max(...times), 'ms'),
  ];
}

export async function countConnections(connectionString: string): Promise<Figure[]> {
  progress('connections of an idle process');
  const name = 'leasehold-bench-idle';
  const roles = Array.from({ length: IDLE_ROLES }, (_, n) => `idle-${n}`);
  const leasehold = await start(`${connectionString}?application_name=${name}`, roles);
  const admin = new pg.Client({ connectionString });
  await admin.connect();
  const { rowCount } = await admin.query('select from pg_stat_activity where application_name = $1', [name]);
  await admin.end();
  await leasehold.stop();
  return [figure(`connections@${IDLE_ROLES}`, rowCount ?? Number.NaN, '', '= 1')];
}

async function start(connectionString: string, roles: readonly string[]): Promise<Leasehold> {
  const leasehold = createLeasehold({ store: postgresStore({ connectionString }) });
  for (const role of roles) leasehold.role(role);
  await leasehold.start();
  return leasehold;
}
