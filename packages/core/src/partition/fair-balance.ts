import type { Clock } from '../clock.ts';
import type { Member } from '../store/lease-store.ts';
import { fairShares } from './balance.ts';
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

/** What is known of a partition at one moment. */
interface View {
  readonly heldBy: ReadonlyMap<string, number>;
  /** Roles of this instance that drain: not held any more, and nobody else's yet. */
  readonly leaving: number;
  readonly vacant: number;
}

/**
 * One instance's part in keeping a partition even, without a leader: it takes no more than its share, and hands over what it
 * has in excess. Nothing moves unless a member has too little, and then from those that have too much; so the moves are the
 * fewest there can be, and no role moves twice.
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

  /** What this instance could hold at most: it may be ill, excluded, or stand aside. */
  get capacity(): number {
    return this.#options.leases.filter((lease) => lease.competes).length;
  }

  /** Lets as many leases compete for what may be vacant as this instance has too few. */
  allot(): void {
    const { leases } = this.#options;
    let free = this.#shareOf(this.#shares()) - this.#held();
    const now = this.#options.clock.monotonic();
    const patienceMs = PATIENCE * (leases[0]?.renewIntervalMs ?? 0);
    for (const lease of this.#order) {
      const may = lease.mayBeVacant && lease.competes;
      const overdue = may && now - (this.#vacantSince.get(lease) ?? now) >= patienceMs;
      lease.restrain(may && (free > 0 || overdue) ? 'member' : 'observer');
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
    const shares = this.#shares();
    const missing = this.#shareOf(shares) - this.#held();
    if (missing < 0) this.#handOver(Math.min(-missing, this.#wanted(shares)));
    return missing > 0 ? this.#order.filter((lease) => lease.mayBeVacant && lease.competes).slice(0, missing) : [];
  }

  #noteTimes(): void {
    const now = this.#options.clock.monotonic();
    for (const lease of this.#options.leases) {
      note(this.#vacantSince, lease, lease.mayBeVacant, now);
      note(this.#heldSince, lease, lease.isHeld, now);
    }
  }

  #shares(): ReadonlyMap<string, number> {
    const { name, leases } = this.#options;
    const { heldBy } = this.#look();
    const members = this.#members.map(({ id, weight, capacities }) => {
      return { id, weight, capacity: capacities[name] ?? leases.length, held: heldBy.get(id) ?? 0 };
    });
    return fairShares(leases.length, members);
  }

  #shareOf(shares: ReadonlyMap<string, number>): number {
    return shares.get(this.#options.instanceId) ?? 0;
  }

  #held(): number {
    return this.#options.leases.filter((lease) => lease.isHeld).length;
  }

  /** How many roles the others lack that are not on their way to them. */
  #wanted(shares: ReadonlyMap<string, number>): number {
    const { heldBy, leaving, vacant } = this.#look();
    let lacking = 0;
    for (const [id, share] of shares) {
      if (id !== this.#options.instanceId) lacking += Math.max(0, share - (heldBy.get(id) ?? 0));
    }
    return lacking - leaving - vacant;
  }

  #look(): View {
    const { leases, instanceId } = this.#options;
    const heldBy = new Map<string, number>();
    let leaving = 0;
    let vacant = 0;
    for (const lease of leases) {
      const holder = lease.isHeld ? instanceId : lease.currentHolder;
      if (lease.isLeaving) leaving += 1;
      else if (holder === null) vacant += 1;
      else heldBy.set(holder, (heldBy.get(holder) ?? 0) + 1);
    }
    return { heldBy, leaving, vacant };
  }

  /**
   * Half of it, so that what a member just took is not asked for twice. Idle roles first, whose work need not drain; then those
   * held the longest, so that what has just moved here does not move on.
   */
  #handOver(excess: number): void {
    const { clock, leases } = this.#options;
    const now = clock.monotonic();
    if (excess <= 0 || now - this.#handedOverAt < PACE * (leases[0]?.renewIntervalMs ?? 0)) return;
    this.#handedOverAt = now;
    const since = (lease: ManagedPartitionLease): number => this.#heldSince.get(lease) ?? now;
    const held = leases.filter((lease) => lease.isHeld);
    const inOrder = held.toSorted((a, b) => Number(b.isIdle) - Number(a.isIdle) || since(a) - since(b) || b.partition - a.partition);
    for (const lease of inOrder.slice(0, Math.ceil(excess / 2))) lease.handOver();
  }
}

/** Keeps the time since when it is so. */
function note(since: Map<ManagedPartitionLease, number>, lease: ManagedPartitionLease, isSo: boolean, now: number): void {
  if (!isSo) since.delete(lease);
  else if (!since.has(lease)) since.set(lease, now);
}
