import { setTimeout as sleep } from 'node:timers/promises';
import { isEven } from '../../../../test/support/least-moves.ts';
import type { Checklist } from '../../../run/src/show/checklist.ts';
import type { Output } from '../../../run/src/show/output.ts';
import { until } from '../../../run/src/show/until.ts';
import type { DevicePark } from '../devices/device-park.ts';
import type { Fleet } from './fleet.ts';
import { type Ledger, ROLES } from './ledger.ts';
import type { Traffic } from './traffic.ts';

/** The lease duration of `app.ts`. */
export const LEASE_MS = 3_000;
const HEARTBEAT_MS = LEASE_MS / 3;
/** Six heartbeats make a newcomer's half of 64 roles; a machine that is busy with something else may miss one. */
export const EVEN_MS = 8 * HEARTBEAT_MS;
/** Without a release: when the lease has run out, and a second for whoever waits for that. */
export const TAKEOVER_MS = LEASE_MS + 1_000;
/** For a graceful stop, on a busy machine. */
export const OUTAGE_MS = 1_000;
/** How long the show waits for what should be long over, to say how late it was. */
const PATIENCE_MS = 10 * LEASE_MS;

/** What has been moved so far, and what had to be. */
interface Moves {
  made: number;
  least: number;
}

/** What every scene plays with. */
export interface Stage {
  readonly fleet: Fleet;
  readonly ledger: Ledger;
  readonly park: DevicePark;
  readonly traffic: Traffic;
  readonly checks: Checklist;
  readonly output: Output;
  readonly moves: Moves;
  readonly random: () => number;
  /** How long people get to look at each step; 0 in CI. */
  readonly pauseMs: number;
  /** The table as lines. */
  readonly table: () => readonly string[];
  readonly signal: AbortSignal;
}

export function waitFor({ signal }: Stage, look: () => boolean, what: string): Promise<boolean> {
  return until(look, { what, timeoutMs: PATIENCE_MS, signal });
}

/** Until those who run hold all partitions evenly, and every device is connected. */
export async function untilEven(stage: Stage): Promise<void> {
  const { fleet, ledger, park } = stage;
  await waitFor(stage, () => isEven(ledger.holdings, fleet.labels, ROLES), `${fleet.labels.join(', ')} having equal shares`);
  await waitFor(stage, () => park.connected() === park.ids.length, 'every device being connected');
}

/** Shows how it is now, and gives people the time to look. */
export async function rest({ output, table, pauseMs, signal }: Stage): Promise<void> {
  output.picture(table);
  await sleep(pauseMs, undefined, { signal });
}

export function longest(gaps: readonly { readonly ms: number }[]): number {
  return Math.round(Math.max(0, ...gaps.map(({ ms }) => ms)));
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
