import type { Clock } from '../clock.ts';
import { LeaseholdError, showValue } from '../errors.ts';
import type { ManagedLease } from '../lease/managed-lease.ts';
import type { MembersAnswer, Party } from '../lease/party.ts';
import type { SentAt } from '../lease/term.ts';
import type { Logger } from '../logger.ts';
import { MEMBER_AFTERLIFE_MS, type Member, type Membership } from '../store/lease-store.ts';
import { FairBalance } from './fair-balance.ts';
import type { ManagedPartition } from './managed-partition.ts';
import { countOf, Participation } from './participation.ts';
import { writeRoleSet } from './role-set.ts';

export interface PartitionPartyOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly instanceId: string;
  readonly weight: number;
  readonly storeName: string;
  /** A draining instance has no share: what it holds is the others'. */
  readonly isDraining: () => boolean;
}

/** A partition with what decides whether its roles may be taken, and how many. */
interface Entry {
  readonly partition: ManagedPartition;
  readonly participation: Participation;
  /** Null: first come, first served. */
  readonly balance: FairBalance | null;
}

/** Less than the afterlife of a member by what two clocks may differ in rate, and by what an answer waits for its turn. */
const LONGEST_CALL_MS = MEMBER_AFTERLIFE_MS - 5_000;

/** All partitions of one instance, as the heartbeat sees them. */
export class PartitionParty implements Party {
  readonly #options: PartitionPartyOptions;
  readonly #entries = new Map<string, Entry>();
  #sequence = 0;
  /** For so long, by both clocks, the store surely tells the others of what this instance declared. */
  #knownUntil: SentAt = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

  constructor(options: PartitionPartyOptions) {
    this.#options = options;
  }

  add(partition: ManagedPartition, isFair: boolean): void {
    const { clock, logger, instanceId } = this.#options;
    const { name, count, partitions: leases } = partition;
    const participation = new Participation(name, count, logger);
    const balance = isFair ? new FairBalance({ name, leases, instanceId, clock }) : null;
    this.#entries.set(name, { partition, participation, balance });
  }

  /** @throws {LeaseholdError} LEASEHOLD_DUPLICATE_ROLE */
  requireFree(name: string): void {
    if (!this.#entries.has(name)) return;
    const message = `partition ${showValue(name)} is registered already; register it once and share it with getPartition(${showValue(name)}).`;
    throw new LeaseholdError('LEASEHOLD_DUPLICATE_ROLE', message, { role: name });
  }

  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE */
  get(name: string): ManagedPartition {
    const entry = this.#entries.get(name);
    if (entry !== undefined) return entry.partition;
    const known = [...this.#entries.keys()].slice(0, 10).join(', ') || 'none';
    const message = `partition ${showValue(name)} is not registered (registered: ${known}); call partition(${showValue(name)}, { count }) first.`;
    throw new LeaseholdError('LEASEHOLD_UNKNOWN_ROLE', message, { role: name });
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  get longestLeaseMs(): number {
    let longest = 0;
    for (const { partition } of this.#entries.values())
      longest = Math.max(longest, partition.partitions[0]?.leaseDurationMs ?? 0);
    return longest;
  }

  get longestCallMs(): number {
    return this.isEmpty ? Number.POSITIVE_INFINITY : LONGEST_CALL_MS;
  }

  get problem(): LeaseholdError | undefined {
    for (const { participation } of this.#entries.values()) if (participation.problem !== undefined) return participation.problem;
    return undefined;
  }

  get isDecided(): boolean {
    return [...this.#entries.values()].every(({ participation }) => participation.isDecided);
  }

  prepare(): Membership | undefined {
    const { clock } = this.#options;
    // What is taken after a long silence is given back: meanwhile the others may have been told that this instance is gone.
    const isKnown = this.#wasKnownAt({ monotonic: clock.monotonic(), wall: clock.wall() });
    for (const { partition, participation, balance } of this.#entries.values()) {
      const isMember = isKnown && participation.isCleared;
      if (isMember && balance !== null) balance.allot();
      else for (const lease of partition) lease.restrain(isMember ? 'member' : 'observer');
    }
    return this.isEmpty ? undefined : this.#declare();
  }

  #declare(): Membership {
    this.#sequence += 1;
    const declared = [...this.#entries.values()].filter(({ participation }) => participation.isDeclared);
    const draining = this.#options.isDraining();
    const excluded = declared.flatMap(({ partition, balance }) => {
      const roles = balance === null || draining ? undefined : excludedOf(partition);
      return roles === undefined ? [] : [[partition.name, roles] as const];
    });
    return {
      sequence: this.#sequence,
      partitions: Object.fromEntries(declared.map(({ partition }) => [partition.name, partition.count])),
      excluded: Object.fromEntries(excluded),
      weight: this.#options.weight,
      draining,
    };
  }

  takeIn({ members, sentAt, ttlMs }: MembersAnswer): ManagedLease[] {
    const isKnown = this.#isKnown(sentAt);
    this.#knownUntil = { monotonic: sentAt.monotonic + ttlMs, wall: sentAt.wall + ttlMs };
    const askAgain: ManagedLease[] = [];
    for (const entry of this.#entries.values()) {
      if (members === undefined) entry.participation.refuseForGood(this.#options.storeName);
      else askAgain.push(...this.#review(entry, members, isKnown));
      if (!entry.participation.isCleared) leave(entry.partition);
    }
    return askAgain;
  }

  /** False: between the heartbeat before and this one the others may have been told that this instance is gone. */
  #isKnown(sentAt: SentAt): boolean {
    const { clock } = this.#options;
    const { monotonic, wall } = sentAt;
    return (
      this.#wasKnownAt(sentAt) && clock.monotonic() < monotonic + MEMBER_AFTERLIFE_MS && clock.wall() < wall + MEMBER_AFTERLIFE_MS
    );
  }

  #wasKnownAt({ monotonic, wall }: SentAt): boolean {
    return monotonic < this.#knownUntil.monotonic && wall < this.#knownUntil.wall;
  }

  #review({ partition, participation, balance }: Entry, members: readonly Member[], isKnown: boolean): Iterable<ManagedLease> {
    const { instanceId } = this.#options;
    const own = members.find(({ id }) => id === instanceId);
    const others = members.filter((member) => member !== own);
    const isFurther = participation.takeIn(isKnown ? own : undefined, others);
    if (!participation.isCleared) return isFurther ? partition : [];
    const agreed = members.filter((member) => countOf(member, partition.name) === partition.count);
    const missing = balance?.review(agreed) ?? [];
    return isFurther ? partition : missing;
  }
}

/** Usually there is nothing left: a row of the instance that a hand deleted is the exception. */
function leave(partition: ManagedPartition): void {
  for (const lease of partition) if (lease.isHeld) lease.handOver('this instance is no member of the partition any more');
}

function excludedOf({ count, partitions }: ManagedPartition): string | undefined {
  return writeRoleSet(count, (place) => partitions[place]?.competes === false);
}
