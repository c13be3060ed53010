import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { InstanceIdentity, ReleaseOutcome, TermIdentity } from '../store/lease-store.ts';
import type { Waiters } from './waiters.ts';

/** What a lease needs of the Leasehold that it belongs to. */
export interface LeaseHost {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly drainTimeoutMs: number;
  readonly instance: InstanceIdentity;
  /** Told when a term of any of its roles begins. */
  readonly termsBegun: Waiters;
  fence(client: unknown, term: TermIdentity): Promise<void>;
  /** Gives one role back within the release budget. */
  release(role: string, fencingToken: bigint): Promise<ReleaseOutcome>;
}
