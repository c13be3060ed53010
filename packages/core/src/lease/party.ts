import type { Member, Membership } from '../store/lease-store.ts';
import type { ManagedLease } from './managed-lease.ts';

/** What the heartbeat carries for the partitions of its instance. It is here since partitions build on leases, and not the other way. */
export interface Party {
  /** What to declare with the next heartbeat; undefined without any partition. */
  readonly membership: Membership | undefined;
  /** The longest lease of any partition, in milliseconds; 0 without any. The instance has to count as alive for as long. */
  readonly longestLeaseMs: number;
  /** What keeps a partition from taking part; undefined where nothing does. */
  readonly problem: unknown;
  /** False while a partition waits for its first word from the store. */
  readonly isDecided: boolean;
  /** Before each heartbeat: decides which of the leases compete with it. */
  prepare(): void;
  /** After each answer: what the members were before it, as far as the store told. Answers the leases to ask for again soon. */
  takeIn(members: readonly Member[] | undefined): Iterable<ManagedLease>;
}
