import type { Member, Membership } from '../store/lease-store.ts';
import type { ManagedLease } from './managed-lease.ts';
import type { SentAt } from './term.ts';

/** What a heartbeat told of the members. */
export interface MembersAnswer {
  /** As they were before it, where the store tells of them. */
  readonly members: readonly Member[] | undefined;
  readonly sentAt: SentAt;
  /** For how long it made this instance count as alive. */
  readonly ttlMs: number;
}

/** What the heartbeat carries for the partitions of its instance. It is here since partitions build on leases, and not the other way. */
export interface Party {
  /** The longest lease of any partition, in milliseconds; 0 without any. The instance has to count as alive for as long. */
  readonly longestLeaseMs: number;
  /** The longest time that a heartbeat may take, in milliseconds; Infinity without any partition. */
  readonly longestCallMs: number;
  /** What keeps a partition from taking part; undefined where nothing does. */
  readonly problem: unknown;
  /** False while a partition has not asked for its roles yet, and may. */
  readonly isDecided: boolean;
  /** Before each heartbeat: decides which of the leases compete with it, and what it declares; undefined without any partition. */
  prepare(): Membership | undefined;
  /** After each answer. Its own answer are the leases to ask for at once. */
  takeIn(answer: MembersAnswer): Iterable<ManagedLease>;
}
