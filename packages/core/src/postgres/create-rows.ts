import type { AcquireRequest } from '../store/lease-store.ts';
import { isLockTimeout } from './errors.ts';

export interface CreateRowsOptions {
  /** Runs the statement of `sql/create-rows.ts`. */
  readonly insert: (values: unknown[]) => Promise<unknown>;
  /** What the whole heartbeat has. */
  readonly timeoutMs: number;
}

/** However many rows are blocked, the heartbeat goes on after this many waits. */
const MOST_WAITS = 5;
/** Another instance that creates the same rows is done in a few milliseconds. */
const LONGEST_WAIT_MS = 100;

/**
 * Creates rows. The insert fails for all of its rows when one of them is blocked: somebody is inserting that very role and
 * has not committed. Halves that are apart from it are created, in turn, so that what is blocked keeps nobody else; the
 * rest is left to the next heartbeat.
 */
export async function createRows(missing: readonly AcquireRequest[], options: CreateRowsOptions): Promise<void> {
  const { insert, timeoutMs } = options;
  const waitMs = Math.ceil(Math.min(LONGEST_WAIT_MS, timeoutMs / MOST_WAITS / 4));
  const parts = [missing];
  let waits = 0;
  for (let part = parts.shift(); part !== undefined && waits < MOST_WAITS; part = parts.shift()) {
    try {
      await insert([part.map(({ role }) => role), part.map(({ tokenFloor }) => String(tokenFloor)), `${waitMs}ms`]);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      waits += 1;
      if (part.length > 1) parts.push(...halvesOf(part));
    }
  }
}

function halvesOf<T>(all: readonly T[]): [readonly T[], readonly T[]] {
  const middle = all.length >> 1;
  return [all.slice(0, middle), all.slice(middle)];
}
