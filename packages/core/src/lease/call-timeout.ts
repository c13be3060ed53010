import type { ManagedLease } from './managed-lease.ts';
import type { Party } from './party.ts';

export interface CallTimeoutOptions {
  readonly leases: Iterable<ManagedLease>;
  readonly callTimeoutMs: number;
  /** That of the timing that `callTimeoutMs` was made for. */
  readonly slackMs: number;
  readonly party: Pick<Party, 'longestCallMs'>;
}

/**
 * What is configured, in proportion less for a role with less slack, and what is left of any term. Of all roles, asked
 * for or not: none is renewed while the call is in flight.
 */
export function timeoutOfCall({ leases, callTimeoutMs, slackMs, party }: CallTimeoutOptions): number {
  let timeoutMs = Math.min(callTimeoutMs, party.longestCallMs);
  for (const lease of leases) {
    if (!lease.isHeld) continue;
    const shareMs = (callTimeoutMs * lease.timing.slackMs) / slackMs;
    timeoutMs = Math.min(timeoutMs, shareMs, lease.remainingMs);
  }
  return Math.max(timeoutMs, 1);
}
