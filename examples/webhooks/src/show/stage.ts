import { setTimeout as sleep } from 'node:timers/promises';
import type { Checklist } from '../../../run/src/show/checklist.ts';
import type { Output } from '../../../run/src/show/output.ts';
import { until } from '../../../run/src/show/until.ts';
import type { Receiver } from '../receiver/receiver.ts';
import type { Ledger } from './ledger.ts';
import type { Workers } from './workers.ts';

/** How long the show waits for what should be long over. */
const PATIENCE_MS = 120_000;

/** What every scene plays with. */
export interface Stage {
  readonly workers: Workers;
  readonly ledger: Ledger;
  readonly receiver: Receiver;
  readonly checks: Checklist;
  readonly output: Output;
  readonly random: () => number;
  /** The application begins to write deliveries. */
  readonly makeEvents: () => void;
  /** How long people get to look at each step; 0 in CI. */
  readonly pauseMs: number;
  /** The table as lines. */
  readonly table: () => readonly string[];
  readonly signal: AbortSignal;
}

export function waitFor({ signal }: Stage, look: () => boolean, what: string): Promise<boolean> {
  return until(look, { what, timeoutMs: PATIENCE_MS, signal });
}

/** Shows how it is now, and gives people the time to look. */
export async function rest({ output, table, pauseMs, signal }: Stage): Promise<void> {
  output.picture(table);
  await sleep(pauseMs, undefined, { signal });
}
