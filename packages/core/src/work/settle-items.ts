import { resolveDuration } from '../duration.ts';
import { requireObject, requireThat } from '../require-option.ts';
import type { After, Outcome } from './fate.ts';
import { requireNotOwned, type ResolvedWorkTable } from './resolve-work-table.ts';
import { resolveSetValues, type SetValue } from './set-values.ts';
import type { SettleItem } from './statements/settle-shape.ts';

const OUTCOMES = ['done', 'retry', 'release', 'bury'];

/** Checks an outcome and puts it into the form that the statement takes. @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION */
export function toSettleItem(table: ResolvedWorkTable, outcome: Outcome, ref: readonly string[]): SettleItem {
  requireObject('outcome', outcome);
  requireThat(OUTCOMES.includes(outcome.outcome), 'outcome', outcome.outcome, `give one of ${OUTCOMES.join(', ')}`);
  requireThat(
    outcome.outcome !== 'bury' || table.dead !== null,
    'dead',
    undefined,
    'tell workTable() what burying a row writes, such as dead: { set: { failed_at: sql`clock_timestamp()` } }',
  );
  const set = resolveSetValues('set', outcome.set ?? {});
  requireNotOwned(table, set);
  return {
    ref,
    outcome: outcome.outcome,
    after: outcome.outcome === 'retry' ? resolveAfter(outcome.after) : null,
    refund: outcome.outcome === 'release' && outcome.refund !== false,
    reason: outcome.outcome === 'bury' ? (outcome.reason ?? null) : null,
    // Sorted: rows that write the same columns in another order are of one shape.
    set: (Object.entries(set) as [string, SetValue][]).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  };
}

function resolveAfter(after: After): number | Date {
  if (!(after instanceof Date)) return resolveDuration('after', after, { min: 0 });
  requireThat(!Number.isNaN(after.getTime()), 'after', 'an invalid Date', 'give a delay or a valid Date');
  return after;
}
