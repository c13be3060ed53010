import type { Clock } from '../clock.ts';
import type { Member } from '../store/lease-store.ts';
import { FairView } from './fair-view.ts';
import { scopedPartitionOf } from './partition-hash.ts';
import type { ManagedPartitionLease } from './partition-lease.ts';

/** A role that stays vacant for so many renew intervals is anybody's, whatever the shares say: better uneven than unowned. */
const PATIENCE = 3;
/** Of two hand-overs, in renew intervals: heartbeats that come early do not count as one. */
const PACE = 0.5;

export interface FairBalanceOptions {
  readonly name: string;
  readonly leases: readonly ManagedPartitionLease[];
  readonly instanceId: string;
  readonly clock: Clock;
}

/**
 * One instance's part in keeping a partition even, without a leader: it takes no more than its share, and hands over what it
 * has in excess. Nothing moves unless a member has too little and can take it, and then from those that have too much; so the
 * moves are the fewest there can be, and no role moves twice.
 */
export class FairBalance {
  readonly #options: FairBalanceOptions;
  /** Each instance looks for vacant roles in an order of its own: two that look at once mostly do not meet. */
  readonly #order: readonly ManagedPartitionLease[];
  readonly #vacantSince = new Map<ManagedPartitionLease, number>();
  readonly #heldSince = new Map<ManagedPartitionLease, number>();
  #members: readonly Member[] = [];
  #handedOverAt = Number.NEGATIVE_INFINITY;

  constructor(options: FairBalanceOptions) {
    const { leases, instanceId } = options;
    const place = (lease: ManagedPartitionLease): number => scopedPartitionOf(instanceId, lease.role, 4_096);
    this.#options = options;
    this.#order = leases.toSorted((a, b) => place(a) - place(b) || a.partition - b.partition);
  }

  /** Lets as many leases compete for what may be vacant as this instance has too few. */
  allot(): void {
    const view = this.#look();
    const now = this.#options.clock.monotonic();
    let free = view.missing;
    for (const lease of this.#order) {
      const may = this.#mayTake(lease);
      const isAnybodys = may && (this.#isOverdue(lease, now) || view.isNobodys(lease));
      lease.restrain(may && (free > 0 || isAnybodys) ? 'member' : 'observer');
      if (may) free -= 1;
    }
  }

  /**
   * Hands over part of the excess, where another member has too little. The leases that are left for this instance to take are
   * the answer.
   *
   * @param members those who declared the partition with the same count, this one too.
   */
  review(members: readonly Member[]): ManagedPartitionLease[] {
    this.#members = members.filter(({ live, draining }) => live && !draining);
    this.#noteTimes();
    const view = this.#look();
    if (view.missing < 0) this.#handOver(view);
    return view.missing > 0 ? this.#order.filter((lease) => this.#mayTake(lease)).slice(0, view.missing) : [];
  }

  #look(): FairView {
    return new FairView({ ...this.#options, members: this.#members });
  }

  #mayTake(lease: ManagedPartitionLease): boolean {
    return lease.mayBeVacant && lease.competes;
  }

  #isOverdue(lease: ManagedPartitionLease, now: number): boolean {
    return now - (this.#vacantSince.get(lease) ?? now) >= PATIENCE * lease.renewIntervalMs;
  }

  #noteTimes(): void {
    const now = this.#options.clock.monotonic();
    for (const lease of this.#options.leases) {
      note(this.#vacantSince, lease, lease.mayBeVacant, now);
      note(this.#heldSince, lease, lease.isHeld, now);
    }
  }

  /**
   * Half of it, so that what a member just took is not asked for twice. Idle roles first, whose work need not drain; then those
   * held the longest, so that what has just moved here does not move on.
   */
  #handOver(view: FairView): void {
    const { clock, leases } = this.#options;
    const now = clock.monotonic();
    if (now - this.#handedOverAt < PACE * (leases[0]?.renewIntervalMs ?? 0)) return;
    const since = (lease: ManagedPartitionLease): number => this.#heldSince.get(lease) ?? now;
    const held = leases.filter((lease) => lease.isHeld);
    const inOrder = held.toSorted(
      (a, b) => Number(b.isIdle) - Number(a.isIdle) || since(a) - since(b) || b.partition - a.partition,
    );
    const wanted = view.wanted(inOrder);
    if (wanted.length === 0) return;
    this.#handedOverAt = now;
    const excess = Math.min(-view.missing, wanted.length);
    for (const lease of wanted.slice(0, Math.ceil(excess / 2))) lease.handOver('this instance has more than its share');
  }
}

/** Keeps the time since when it is so. */
function note(since: Map<ManagedPartitionLease, number>, lease: ManagedPartitionLease, isSo: boolean, now: number): void {
  if (!isSo) since.delete(lease);
  else if (!since.has(lease)) since.set(lease, now);
}
