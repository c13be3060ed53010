import type { Clock } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { callStore } from './call-store.ts';
import type { LeaseStore } from './lease-store.ts';

const inUse = new WeakSet<LeaseStore>();

/**
 * A store has the connection and the wake-ups of one instance. Opened for a second one, it would wake the first alone, and
 * close for both when one of them stops.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
export function claimStore(store: LeaseStore): void {
  if (inUse.has(store)) {
    throw new LeaseholdError(
      'LEASEHOLD_INVALID_OPTION',
      'store is in use by another Leasehold of this process; give each a store of its own.',
      { option: 'store' },
    );
  }
  inUse.add(store);
}

export interface CloseOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timeoutMs: number;
}

/** Bounded, and never rejects: a store that does not close must not keep the process from ending. */
export async function closeStore(store: LeaseStore, { clock, logger, timeoutMs }: CloseOptions): Promise<void> {
  try {
    await callStore({ clock, timeoutMs, what: 'request to close' }, () => store.close());
  } catch (error) {
    logger.warn({ err: error, store: store.name }, 'the store did not close');
  }
  inUse.delete(store);
}
