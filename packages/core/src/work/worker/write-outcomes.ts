import { type Clock, delay } from '../../clock.ts';
import { isLeaseholdError } from '../../errors.ts';
import type { Random } from '../../lease/pacing.ts';
import { isTransient } from '../../postgres/errors.ts';
import type { Claim } from '../claim.ts';
import type { Fate, Outcome } from '../fate.ts';
import type { RowlessOutcome } from './outcome.ts';
import { within } from './within.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** What is to become of a row, not written yet. */
export interface Unsettled<Row extends object> {
  readonly row: Row;
  readonly outcome: RowlessOutcome;
  /** By the monotonic clock. */
  readonly since: number;
  /** What to write in its place when the database refuses it for what it says, the best first. */
  readonly insteadOf: (error: unknown) => readonly RowlessOutcome[];
}

export interface WriteOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly leaseMs: number;
  /** Aborts when nobody wants to wait for another try. */
  readonly hurry: AbortSignal;
  /** The first failure of a write that is tried again, and the end of it. */
  readonly onTrouble: (change: 1 | -1) => void;
  /** A row whose outcome was refused, or given up. */
  readonly onRefused: (row: object, error: unknown) => void;
}

export interface Written {
  /** What was written, which may be another than was asked. */
  readonly outcome: RowlessOutcome;
  /** Null when nothing could be written, so that the row's lease has to run out. */
  readonly fate: Fate | null;
}

/**
 * Writes outcomes of one claim, and never rejects. What fails in passing (a deadlock, a connection that broke) is tried again as long as
 * the lease lasts, and not for ever: the row is then claimed again. What fails for what one row says is told apart by
 * halves, so that this row alone pays for it.
 */
export async function writeOutcomes<Row extends object>(
  claim: Claim<Row>,
  unsettled: readonly Unsettled<Row>[],
  options: WriteOptions,
): Promise<Written[]> {
  try {
    return await writeTogether(claim, unsettled, options);
  } catch (error) {
    const [first, ...others] = unsettled;
    if (first === undefined) return [];
    if (isTransient(error)) return unsettled.map((one) => giveUp(one, error, options));
    if (others.length === 0) return [await writeInstead(claim, first, { ...options, error })];
    const middle = Math.ceil(unsettled.length / 2);
    const before = await writeOutcomes(claim, unsettled.slice(0, middle), options);
    return [...before, ...(await writeOutcomes(claim, unsettled.slice(middle), options))];
  }
}

function giveUp<Row extends object>({ row, outcome }: Unsettled<Row>, error: unknown, { onRefused }: WriteOptions): Written {
  onRefused(row, error);
  return { outcome, fate: null };
}

async function writeTogether<Row extends object>(
  claim: Claim<Row>,
  unsettled: readonly Unsettled<Row>[],
  options: WriteOptions,
): Promise<Written[]> {
  const { clock, leaseMs, random, hurry, onTrouble } = options;
  const outcomes = unsettled.map(({ row, outcome }) => ({ row, ...outcome }) as unknown as Outcome<Row>);
  const giveUpAt = Math.min(...unsettled.map(({ since }) => since)) + leaseMs;
  let failures = 0;
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        const settling = claim.settle(outcomes);
        const fates = await within(settling, { clock, ms: leaseMs, what: 'the settlement of rows', onLate: () => {} });
        return unsettled.map(({ outcome }, index) => ({ outcome, fate: fates[index] ?? null }));
      } catch (error) {
        const isOver = hurry.aborted || clock.monotonic() + pauseMs >= giveUpAt;
        if (isOver || !isTransient(error)) throw error;
      }
      failures += 1;
      if (failures === 1) onTrouble(1);
      await delay(clock, pauseMs * (0.5 + 0.5 * random()), hurry);
    }
  } finally {
    if (failures > 0) onTrouble(-1);
  }
}

async function writeInstead<Row extends object>(
  claim: Claim<Row>,
  refused: Unsettled<Row>,
  { error, ...options }: WriteOptions & { readonly error: unknown },
): Promise<Written> {
  // Somebody else is settling the row, or has: a handler that was given up and finishes it in its own transaction all the same, whose
  // end is not known here. What a try of this worker's own had written, the claim would have told.
  if (isLeaseholdError(error, 'LEASEHOLD_ALREADY_SETTLED')) return { outcome: refused.outcome, fate: null };
  options.onRefused(refused.row, error);
  for (const outcome of refused.insteadOf(error)) {
    try {
      const [written] = await writeTogether(claim, [{ ...refused, outcome }], options);
      if (written !== undefined) return written;
    } catch (next) {
      if (isTransient(next)) break;
    }
  }
  return { outcome: refused.outcome, fate: null };
}
