import { requireFunction } from '../require-option.ts';
import type { WhileHeldResult } from '../lease/role-lease.ts';
import type { Term } from '../lease/term.ts';
import { requireKey, requireScope } from './affinity-key.ts';
import { partitionOf, scopedPartitionOf } from './partition-hash.ts';
import type { ManagedPartitionLease } from './partition-lease.ts';
import type { RolePartition } from './role-partition.ts';

type Work<T> = (term: Term) => T | Promise<T>;

/** What users see of a partition. It knows nothing of how its roles come here. */
export class ManagedPartition implements RolePartition {
  readonly name: string;
  readonly partitions: readonly ManagedPartitionLease[];

  constructor(name: string, partitions: readonly ManagedPartitionLease[]) {
    this.name = name;
    this.partitions = partitions;
  }

  get count(): number {
    return this.partitions.length;
  }

  resolve(scopeOrKey: string, key?: string): ManagedPartitionLease {
    return this.partitions[this.#indexOf(scopeOrKey, key)] as ManagedPartitionLease;
  }

  isHeld(scopeOrKey: string, key?: string): boolean {
    return this.resolve(scopeOrKey, key).isHeld;
  }

  whileHeld<T>(key: string, work: Work<T>): Promise<WhileHeldResult<T>>;
  whileHeld<T>(scope: string, key: string, work: Work<T>): Promise<WhileHeldResult<T>>;
  async whileHeld<T>(scopeOrKey: string, keyOrWork: string | Work<T>, work?: Work<T>): Promise<WhileHeldResult<T>> {
    if (typeof keyOrWork === 'function') return this.resolve(scopeOrKey).whileHeld(keyOrWork);
    requireFunction('work', work);
    return this.resolve(scopeOrKey, keyOrWork).whileHeld(work as Work<T>);
  }

  #indexOf(scopeOrKey: string, key: string | undefined): number {
    const { length } = this.partitions;
    if (key === undefined) {
      requireKey(scopeOrKey);
      return partitionOf(scopeOrKey, length);
    }
    requireScope(scopeOrKey);
    requireKey(key);
    return scopedPartitionOf(scopeOrKey, key, length);
  }

  [Symbol.iterator](): Iterator<ManagedPartitionLease> {
    return this.partitions.values();
  }
}
