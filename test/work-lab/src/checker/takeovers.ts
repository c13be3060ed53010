import type { ClockMap } from '../../../lab/src/checker/clock-map.ts';
import { excusedTime } from '../../../lab/src/checker/excuses.ts';
import type { StruckFault } from '../../../lab/src/checker/history.ts';
import type { Lease } from './history.ts';

export interface TakeoverEvidence {
  readonly leases: readonly Lease[];
  readonly faults: readonly StruckFault[];
  readonly clock: ClockMap;
}

export interface Takeovers {
  /** Rows of killed workers that others took over. */
  readonly count: number;
  /** From the kill to the claim, less the time in which rows that had been due for longer were claimed, or nothing could be. */
  readonly worstMs: number;
  /** With all of that. */
  readonly worstInAllMs: number;
}

/** How long the rows of workers that were killed had to wait. */
export function judgeTakeovers({ leases, faults, clock }: TakeoverEvidence): Takeovers {
  const killedAt = new Map(
    faults.flatMap(({ kind, reach, from }) =>
      kind === 'kill' && reach.of === 'instances' ? reach.instances.map((name) => [name, from] as const) : [],
    ),
  );
  const claims = [...leases].sort((a, b) => a.from - b.from);
  const nextOf = nextClaims(claims);
  let count = 0;
  let worstMs = 0;
  let worstInAllMs = 0;
  for (const lease of leases) {
    const killed = killedAt.get(lease.by);
    const next = nextOf.get(lease);
    if (killed === undefined || lease.end !== 'taken' || next === undefined) continue;
    const waited = waitOf({ killed, lease, next }, { claims, faults, clock });
    // It was taken over before the kill.
    if (waited.inAllMs < 0) continue;
    count += 1;
    worstMs = Math.max(worstMs, waited.ms);
    worstInAllMs = Math.max(worstInAllMs, waited.inAllMs);
  }
  return { count, worstMs, worstInAllMs };
}

function nextClaims(claims: readonly Lease[]): Map<Lease, Lease> {
  const last = new Map<string, Lease>();
  const next = new Map<Lease, Lease>();
  for (const claim of claims) {
    const before = last.get(claim.row);
    if (before !== undefined) next.set(before, claim);
    last.set(claim.row, claim);
  }
  return next;
}

interface Wait {
  readonly killed: number;
  readonly lease: Lease;
  readonly next: Lease;
}

function waitOf(
  { killed, lease, next }: Wait,
  { claims, faults, clock }: { readonly claims: readonly Lease[] } & Omit<TakeoverEvidence, 'leases'>,
): { ms: number; inAllMs: number } {
  const due = clock.toMonotonic(lease.until).from;
  const claimed = clock.toMonotonic(next.from).from;
  // Rows that had been due before this one were claimed until then.
  const free = Math.max(due, clock.toMonotonic(lastOlder(claims, lease.until, next.from)).from);
  const excused = excusedTime(lease.row, { from: free, to: claimed }, faults);
  const leased = Math.max(0, due - killed);
  return { ms: (leased + Math.max(0, claimed - free - excused)) / 1_000, inAllMs: (claimed - killed) / 1_000 };
}

/** When, between the two, the last row was claimed that had been due for longer. */
function lastOlder(claims: readonly Lease[], due: number, until: number): number {
  for (let index = firstFrom(claims, until) - 1; index >= 0; index -= 1) {
    const claim = claims[index] as Lease;
    if (claim.from < due) return due;
    if (claim.due < due) return claim.from;
  }
  return due;
}

function firstFrom(claims: readonly Lease[], time: number): number {
  let low = 0;
  let high = claims.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((claims[middle] as Lease).from < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
