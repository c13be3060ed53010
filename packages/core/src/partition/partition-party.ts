import type { Clock } from '../clock.ts';
import { LeaseholdError, showValue } from '../errors.ts';
import type { ManagedLease } from '../lease/managed-lease.ts';
import type { Party } from '../lease/party.ts';
import type { Logger } from '../logger.ts';
import type { Member, Membership } from '../store/lease-store.ts';
import { FairBalance } from './fair-balance.ts';
import type { ManagedPartition } from './managed-partition.ts';
import { Participation } from './participation.ts';

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

/** All partitions of one instance, as the heartbeat sees them. */
export class PartitionParty implements Party {
  readonly #options: PartitionPartyOptions;
  readonly #entries = new Map<string, Entry>();

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

  get membership(): Membership | undefined {
    if (this.#entries.size === 0) return undefined;
    const declared = [...this.#entries.values()].filter(({ participation }) => participation.isDeclared);
    return {
      partitions: Object.fromEntries(declared.map(({ partition }) => [partition.name, partition.count])),
      capacities: Object.fromEntries(
        declared.flatMap(({ partition: { name }, balance }) => (balance === null ? [] : [[name, balance.capacity]])),
      ),
      weight: this.#options.weight,
      draining: this.#options.isDraining(),
    };
  }

  get longestLeaseMs(): number {
    let longest = 0;
    for (const { partition } of this.#entries.values()) longest = Math.max(longest, partition.partitions[0]?.leaseDurationMs ?? 0);
    return longest;
  }

  get problem(): LeaseholdError | undefined {
    for (const { participation } of this.#entries.values()) if (participation.problem !== undefined) return participation.problem;
    return undefined;
  }

  get isDecided(): boolean {
    return [...this.#entries.values()].every(({ participation }) => participation.isDecided);
  }

  prepare(): void {
    for (const { partition, participation, balance } of this.#entries.values()) {
      if (participation.isCleared && balance !== null) balance.allot();
      else for (const lease of partition) lease.restrain(participation.isCleared ? 'member' : 'observer');
    }
  }

  takeIn(members: readonly Member[] | undefined): ManagedLease[] {
    const askAgain: ManagedLease[] = [];
    for (const entry of this.#entries.values()) askAgain.push(...this.#review(entry, members));
    return askAgain;
  }

  #review({ partition, participation, balance }: Entry, members: readonly Member[] | undefined): Iterable<ManagedLease> {
    if (members === undefined) {
      participation.refuseForGood(this.#options.storeName);
      return [];
    }
    const { instanceId } = this.#options;
    const wasCleared = participation.isCleared;
    const own = members.find(({ id }) => id === instanceId);
    participation.takeIn(own, members.filter((member) => member !== own));
    if (participation.takeImpatience()) return partition;
    if (!participation.isCleared) return [];
    const agreed = members.filter(({ partitions }) => partitions[partition.name] === partition.count);
    return balance === null ? (wasCleared ? [] : partition) : balance.review(agreed);
  }
}
