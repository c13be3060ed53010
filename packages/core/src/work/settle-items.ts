import { resolveDuration } from '../duration.ts';
import { requireKnown, requireObject, requireThat } from '../require-option.ts';
import { isoText } from './columns/encode-date.ts';
import { requireClient } from './client.ts';
import type { After, Outcome, OutcomeName, SettleOptions } from './fate.ts';
import { requireNotOwned, type ResolvedWorkTable } from './resolve-work-table.ts';
import { resolveSetValues, type SetValue } from './set-values.ts';
import type { SettleItem } from './statements/settle-item.ts';

/** What each outcome may say besides. */
const KNOWN: Readonly<Record<OutcomeName, readonly string[]>> = {
  done: ['row', 'outcome', 'set'],
  retry: ['row', 'outcome', 'set', 'after'],
  release: ['row', 'outcome', 'set', 'refund'],
  bury: ['row', 'outcome', 'set', 'reason'],
};

const PLACES: Readonly<Record<OutcomeName, string>> = {
  done: "the outcome 'done'",
  retry: "the outcome 'retry'",
  release: "the outcome 'release'",
  bury: "the outcome 'bury'",
};

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION unless it is a list of outcomes that name a row. */
export function requireOutcomes(outcomes: readonly unknown[]): void {
  requireThat(Array.isArray(outcomes), 'outcomes', outcomes, "give a list, such as [{ row, outcome: 'done' }]");
  for (const outcome of outcomes) {
    const name = (outcome as { outcome?: unknown } | null | undefined)?.outcome;
    const isKnown = typeof outcome === 'object' && typeof name === 'string' && Object.hasOwn(KNOWN, name);
    // Put together for a mistake alone: this is done for each row.
    if (!isKnown) requireThat(false, 'outcome', name, `give one of ${Object.keys(KNOWN).join(', ')}`);
  }
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function resolveSettleOptions(options: SettleOptions): SettleOptions {
  requireObject('the options of a settlement', options);
  requireKnown('a settlement', options, ['client', 'onLost']);
  const { client, onLost = 'tell' } = options;
  requireThat(onLost === 'tell' || onLost === 'throw', 'onLost', onLost, "give 'tell' or 'throw'");
  if (client !== undefined) requireClient('client', client);
  return options;
}

/** Checks an outcome and puts it into the form that the statement takes. @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION */
export function toSettleItem(table: ResolvedWorkTable, outcome: Outcome, ref: readonly string[]): SettleItem {
  requireKnown(PLACES[outcome.outcome], outcome, KNOWN[outcome.outcome]);
  requireThat(
    outcome.outcome !== 'bury' || table.dead !== null,
    'dead',
    undefined,
    'tell workTable() what burying a row writes, such as dead: { set: { failed_at: sql`clock_timestamp()` } }',
  );
  return {
    ref,
    outcome: outcome.outcome,
    after: outcome.outcome === 'retry' ? resolveAfter(outcome.after) : null,
    refund: outcome.outcome === 'release' && outcome.refund !== false,
    reason: outcome.outcome === 'bury' ? (outcome.reason ?? null) : null,
    set: (outcome.set ?? null) === null ? [] : resolveSet(table, outcome.set as object),
  };
}

/** Sorted: rows that write the same columns in another order are of one shape. */
function resolveSet(table: ResolvedWorkTable, asked: object): SettleItem['set'] {
  const set = resolveSetValues('set', asked);
  requireNotOwned(table, set);
  return (Object.entries(set) as [string, SetValue][]).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function resolveAfter(after: After): number | Date {
  if (!(after instanceof Date)) return resolveDuration('after', after, { min: 0 });
  requireThat(isoText(after) !== null, 'after', 'no Date that PostgreSQL takes', 'give a delay, or a Date before the year 10000');
  return after;
}
