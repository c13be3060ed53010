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

  resolve(key: string): ManagedPartitionLease;
  resolve(scope: string, key: string): ManagedPartitionLease;
  resolve(scopeOrKey: string, key?: string): ManagedPartitionLease {
    // Not by what the key is: an id that is missing would be taken for a key without a scope, and all such be one key.
    const place = arguments.length > 1 ? this.#placeOf(scopeOrKey, key as string) : this.#placeOfKey(scopeOrKey);
    return this.partitions[place] as ManagedPartitionLease;
  }

  isHeld(key: string): boolean;
  isHeld(scope: string, key: string): boolean;
  isHeld(scopeOrKey: string, key?: string): boolean {
    return (arguments.length > 1 ? this.resolve(scopeOrKey, key as string) : this.resolve(scopeOrKey)).isHeld;
  }

  whileHeld<T>(key: string, work: Work<T>): Promise<WhileHeldResult<T>>;
  whileHeld<T>(scope: string, key: string, work: Work<T>): Promise<WhileHeldResult<T>>;
  async whileHeld<T>(scopeOrKey: string, keyOrWork: string | Work<T>, work?: Work<T>): Promise<WhileHeldResult<T>> {
    if (typeof keyOrWork === 'function') return this.resolve(scopeOrKey).whileHeld(keyOrWork);
    requireFunction('work', arguments.length > 2 ? work : keyOrWork);
    return this.resolve(scopeOrKey, keyOrWork).whileHeld(work as Work<T>);
  }

  #placeOfKey(key: string): number {
    requireKey(key);
    return partitionOf(key, this.partitions.length);
  }

  #placeOf(scope: string, key: string): number {
    requireScope(scope);
    requireKey(key);
    return scopedPartitionOf(scope, key, this.partitions.length);
  }

  [Symbol.iterator](): Iterator<ManagedPartitionLease> {
    return this.partitions.values();
  }
}
