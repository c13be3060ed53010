import { type Leasehold, LeaseholdError, type PartitionOptions, type RolePartition, showValue } from '@leasehold/core';
import type { AnyPartition } from '@leasehold/core/adapter';

/** What modules have declared, by the Leasehold that it was registered on. */
const declared = new WeakMap<Leasehold, Map<string, PartitionOptions>>();

/**
 * Registers the partition when it is first asked for. A partition has options wherever it is declared, since it has a count; so
 * it is shared where they are the same.
 *
 * @throws {LeaseholdError} whatever `Leasehold.partition` throws; LEASEHOLD_DUPLICATE_ROLE when the options differ.
 */
export function declarePartition(leasehold: Leasehold, { name, options }: AnyPartition): RolePartition {
  const onIt = declared.get(leasehold) ?? new Map<string, PartitionOptions>();
  const first = onIt.get(name);
  if (first !== undefined) return shared(leasehold, name, isSame(first, options));
  const partition = leasehold.partition(name, options);
  declared.set(leasehold, onIt.set(name, options));
  return partition;
}

function shared(leasehold: Leasehold, name: string, same: boolean): RolePartition {
  if (same) return leasehold.getPartition(name);
  throw new LeaseholdError(
    'LEASEHOLD_DUPLICATE_ROLE',
    `partition ${showValue(name)} is declared more than once, with options that differ; give it the same options everywhere, or declare it in forRoot() alone.`,
    { role: name },
  );
}

function isSame(first: object, second: object): boolean {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  return [...names].every((name) => Object.is(Reflect.get(first, name), Reflect.get(second, name)));
}
