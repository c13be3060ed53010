import type { Member } from '../store/lease-store.ts';
import { fairShares } from './balance.ts';
import type { ManagedPartitionLease } from './partition-lease.ts';
import { readRoleSet } from './role-set.ts';

export interface FairViewOptions {
  readonly name: string;
  readonly leases: readonly ManagedPartitionLease[];
  readonly instanceId: string;
  /** Those who declared the partition with the same count, this instance too, as far as they live and do not drain. */
  readonly members: readonly Member[];
}

/** Somebody else who holds less than its share. */
interface Lack {
  missing: number;
  readonly capacity: number;
  readonly excluded: readonly boolean[];
}

/** What is known of a fair partition at one moment: who holds how many roles, and who should. */
export class FairView {
  readonly #leases: readonly ManagedPartitionLease[];
  readonly #instanceId: string;
  readonly #held: number;
  readonly #share: number;
  /** Those with the least choice first: what only they can take is not spent on others. */
  readonly #lacks: readonly Lack[];

  constructor({ name, leases, instanceId, members }: FairViewOptions) {
    this.#leases = leases;
    this.#instanceId = instanceId;
    const heldBy = this.#countHeld();
    const parts = members.map(({ id, weight, excluded }) => {
      const isExcluded = readRoleSet(leases.length, Object.hasOwn(excluded, name) ? excluded[name] : undefined);
      const capacity = isExcluded.filter((is) => !is).length;
      return { id, weight, capacity, held: heldBy.get(id) ?? 0, excluded: isExcluded };
    });
    const shares = fairShares(leases.length, parts);
    this.#held = heldBy.get(instanceId) ?? 0;
    this.#share = shares.get(instanceId) ?? 0;
    this.#lacks = parts
      .filter(({ id }) => id !== instanceId)
      .map(({ id, held, ...rest }) => ({ ...rest, missing: (shares.get(id) ?? 0) - held }))
      .filter(({ missing }) => missing > 0)
      .toSorted((a, b) => a.capacity - b.capacity);
  }

  /** How many roles this instance has too few, or too many, as a negative number. */
  get missing(): number {
    return this.#share - this.#held;
  }

  /** It is vacant, and of those who have too few no other can take it. */
  isNobodys(lease: ManagedPartitionLease): boolean {
    return this.#holderOf(lease) === null && !this.#lacks.some(({ excluded }) => excluded[lease.partition] === false);
  }

  /**
   * Those of `held` that another member lacks and can take, in the order given: no more than they lack beyond what is vacant
   * or on its way already.
   */
  wanted(held: readonly ManagedPartitionLease[]): ManagedPartitionLease[] {
    const lacks = this.#lacks.map((lack) => ({ ...lack }));
    for (const lease of this.#leases) if (lease.isLeaving || this.#holderOf(lease) === null) assign(lease, lacks);
    return held.filter((lease) => assign(lease, lacks));
  }

  #countHeld(): Map<string, number> {
    const heldBy = new Map<string, number>();
    for (const lease of this.#leases) {
      const holder = this.#holderOf(lease);
      if (holder !== null && !lease.isLeaving) heldBy.set(holder, (heldBy.get(holder) ?? 0) + 1);
    }
    return heldBy;
  }

  #holderOf(lease: ManagedPartitionLease): string | null {
    return lease.isHeld ? this.#instanceId : lease.currentHolder;
  }
}

/** Gives the role to the first who can take it; false where nobody can. */
function assign({ partition }: ManagedPartitionLease, lacks: readonly Lack[]): boolean {
  const taker = lacks.find(({ missing, excluded }) => missing > 0 && excluded[partition] === false);
  if (taker === undefined) return false;
  taker.missing -= 1;
  return true;
}
