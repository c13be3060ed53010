import type { After, Outcome } from '../fate.ts';
import type { SetValues } from '../set-values.ts';

/** The registry's, so that what another installation made is known too. */
const MADE_BY_HELPER: unique symbol = Symbol.for('@leasehold/core/work/outcome');

/** An outcome without the row that it is about. */
export type RowlessOutcome = Outcome extends infer One ? (One extends Outcome ? Omit<One, 'row'> : never) : never;

/** What a handler wants to become of its row: made by `done`, `retryIn`, `bury` and `release`. */
export interface HandlerOutcome {
  readonly [MADE_BY_HELPER]: RowlessOutcome;
}

/** What a handler returns: nothing, for a row that is done, or what is to become of it. */
// oxlint-disable-next-line typescript/no-invalid-void-type -- a function without a return statement returns this
export type HandlerResult = HandlerOutcome | undefined | void;

const make = (outcome: RowlessOutcome): HandlerOutcome => ({ [MADE_BY_HELPER]: outcome });

/** The row is done: writes the table's `done` columns and `set`. */
export function done(set: SetValues = {}): HandlerOutcome {
  return make({ outcome: 'done', set });
}

/** The row is due again after this, without an error to be told. The attempt counts, and without one left the row is buried. */
export function retryIn(after: After, set: SetValues = {}): HandlerOutcome {
  return make({ outcome: 'retry', after, set });
}

/** The row is put away for good. */
export function bury(reason?: string, set: SetValues = {}): HandlerOutcome {
  return make({ outcome: 'bury', set, ...(reason === undefined ? {} : { reason }) });
}

/**
 * The row is handed back as if it had not been claimed.
 *
 * *Gotcha:* it is due at once, and may well come back to the same worker; use `retryIn` to have it later.
 */
export function release(options: { readonly refund?: boolean } = {}): HandlerOutcome {
  return make({ outcome: 'release', ...options });
}

/** Null when no helper made it. */
export function outcomeIn(value: unknown): RowlessOutcome | null {
  if (typeof value !== 'object' || value === null || !(MADE_BY_HELPER in value)) return null;
  return (value as HandlerOutcome)[MADE_BY_HELPER];
}
