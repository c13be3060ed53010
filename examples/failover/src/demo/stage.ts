import { setTimeout as sleep } from 'node:timers/promises';
import type { Output } from '../../../run/src/show/output.ts';
import type { Checklist } from '../../../run/src/show/checklist.ts';
import type { Cluster, HeardTerm } from './cluster.ts';
import type { CopyProcess } from './copy-process.ts';
import type { ShowDatabase } from '../../../run/src/show/database.ts';
import type { EventReader } from './event-stream.ts';
import type { Traffic } from './traffic.ts';

/** The lease duration of `app.ts`. */
export const LEASE_MS = 3_000;
const RENEW_MS = LEASE_MS / 3;
/** A takeover without a release: when the lease has run out, and a second for whoever waits for that. */
export const TAKEOVER_MS = LEASE_MS + 1_000;
export const RELEASE_MS = 250;
/** How long the demo waits for what should be long over, to say how late it was. */
export const PATIENCE_MS = 5 * LEASE_MS;

/** What every scene of the demo plays with. */
export interface Stage {
  readonly cluster: Cluster;
  readonly database: ShowDatabase;
  readonly traffic: Traffic;
  readonly reader: EventReader;
  readonly checks: Checklist;
  readonly output: Output;
  readonly random: () => number;
  /** How long people get to look before each fault; 0 in CI. */
  readonly pauseMs: number;
  readonly signal: AbortSignal;
}

/** Waits for people, and then for a moment of the heartbeat interval that the seed says. */
export async function beforeFault({ random, output, pauseMs, signal }: Stage, fault: string): Promise<void> {
  output.step(`Next: ${fault}`);
  await sleep(pauseMs + random() * RENEW_MS, undefined, { signal });
}

/** The copy that holds now, all three agreeing. */
export async function requireHolder({ cluster, output }: Stage): Promise<CopyProcess> {
  const missing = cluster.copies.filter(({ phase }) => phase === 'gone').map(({ label }) => label);
  if (missing.length > 0) output.step(`Starting ${missing.join(', ')}`);
  return cluster.startAll();
}

/** The reader hears from the holder of this term, and by way of another copy. */
export async function checkStreamGoesOn({ cluster, reader, checks }: Stage, { copy, token }: HeardTerm): Promise<void> {
  const seen = await cluster.until(
    () => reader.events.findLast((event) => event.token === token && event.through !== copy.label),
    `an event of ${copy.label} through another copy`,
    PATIENCE_MS,
  );
  checks.check(seen.by === copy.label, `the event stream goes on: ${seen.by} sends, read through ${seen.through}`);
}
