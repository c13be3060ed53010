import type { ClockMap } from '../../../lab/src/checker/clock-map.ts';
import { ms } from '../../../lab/src/checker/group.ts';
import type { Violation } from '../../../lab/src/checker/history.ts';
import type { Lease, Look } from './history.ts';
import { keyOf } from './told.ts';

/** No handler saw a signal that had not aborted after another claim had taken its row. Only what is certain counts. */
export function findLateLooks(looks: readonly Look[], leases: ReadonlyMap<string, Lease>, clock: ClockMap): Violation[] {
  return looks.flatMap(({ row, claim, by, at }) => {
    const lease = leases.get(keyOf(row, claim));
    if (lease?.end !== 'taken' && lease?.end !== 'buriedByClaim') return [];
    const lateBy = at - clock.toMonotonic(lease.endedAt).to;
    if (lateBy <= 0) return [];
    return [{ check: 'late look', what: `row ${row}: ${by} worked on ${ms(lateBy)} after its claim ${claim} was taken over` }];
  });
}
