import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Checklist } from '../../../run/src/show/checklist.ts';
import type { Output } from '../../../run/src/show/output.ts';
import { until } from '../../../run/src/show/until.ts';
import type { Customers } from './customers.ts';
import type { Fleet } from './fleet.ts';
import type { Ledger } from './ledger.ts';

/** Of the roles and of the envelopes, in `app.ts` and `worker.ts`. */
export const LEASE_MS = 3_000;
/** Until deliveries go on after a graceful move, on a busy machine; less than a lease, which nobody waits for here. */
export const MOVE_MS = 2_000;
/** When the leases have run out, and two seconds for whoever waits for that. */
export const TAKEOVER_MS = LEASE_MS + 2_000;
/** How long the show waits for what should be long over, to say how late it was. */
const PATIENCE_MS = 10 * LEASE_MS;

/** What every scene plays with. */
export interface Stage {
  readonly fleet: Fleet;
  readonly ledger: Ledger;
  readonly customers: Customers;
  readonly pool: pg.Pool;
  readonly checks: Checklist;
  readonly output: Output;
  /** How long people get to look at each step; 0 in CI. */
  readonly pauseMs: number;
  readonly table: () => readonly string[];
  /** Ends the customers. */
  readonly closeShop: () => Promise<void>;
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
