import { resolveDuration } from '../../duration.ts';
import { LeaseholdError, showValue } from '../../errors.ts';
import { exponential } from '../backoff.ts';
import type { After } from '../fate.ts';
import { errorText } from '../storable.ts';
import { outcomeIn, type RowlessOutcome } from './outcome.ts';

const LONGEST_REASON = 500;

export interface VerdictContext<Row extends object> {
  readonly row: Row;
  readonly attempt: number | null;
  readonly maxAttempts: number;
  readonly backoff: (attempt: number, error: unknown, row: Row) => After;
  readonly errorColumn: string | null;
}

/**
 * What becomes of a row whose handler returned this.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when no helper made it. To take it for "done" would lose the work of a handler
 * that tells of its failure in words of its own.
 */
export function verdictOnValue<Row extends object>(value: unknown, context: VerdictContext<Row>): RowlessOutcome {
  if (value === undefined || value === null) return { outcome: 'done' };
  const outcome = outcomeIn(value);
  if (outcome === null) throw garbage(value);
  if (outcome.outcome !== 'retry' || !isLastAttempt(context)) return outcome;
  return { outcome: 'bury', reason: 'attempts used up', ...(outcome.set === undefined ? {} : { set: outcome.set }) };
}

/** What becomes of a row whose handler threw this: due again later, or buried with the last attempt. */
export function verdictOnError<Row extends object>(error: unknown, context: VerdictContext<Row>): RowlessOutcome {
  const { errorColumn } = context;
  const set = errorColumn === null ? {} : { [errorColumn]: errorText(error) };
  if (!isLastAttempt(context)) return { outcome: 'retry', after: delayAfter(error, context), set };
  return { outcome: 'bury', reason: `attempts used up: ${errorText(error, { maxLength: LONGEST_REASON })}`, set };
}

function isLastAttempt({ attempt, maxAttempts }: Pick<VerdictContext<object>, 'attempt' | 'maxAttempts'>): boolean {
  return attempt !== null && attempt >= maxAttempts;
}

/** A backoff that fails itself must not keep the row from being due again. */
function delayAfter<Row extends object>(error: unknown, { row, attempt, backoff }: VerdictContext<Row>): After {
  const counted = Math.max(attempt ?? 1, 1);
  try {
    const after = backoff(counted, error, row);
    if (after instanceof Date && !Number.isNaN(after.getTime())) return after;
    return resolveDuration('the answer of backoff', after, { min: 0 });
  } catch {
    return exponential(counted);
  }
}

function garbage(value: unknown): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_INVALID_OPTION',
    `the handler returned ${showValue(value)}; return nothing for a row that is done, or what done(), retryIn(), bury() or release() answers.`,
    { option: 'handler' },
  );
}
