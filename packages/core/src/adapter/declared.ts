import { isLeaseholdError } from '../errors.ts';
import { type Leasehold, rehearsalOf } from '../leasehold.ts';
import type { RoleOptions } from '../lease/lease-options.ts';
import type { PartitionOptions } from '../partition/partition-options.ts';
import { invalidOption } from './invalid-option.ts';

/** A role with options of its own. */
export type AnyRole = RoleOptions & { readonly name: string };

export interface AnyPartition {
  readonly name: string;
  readonly options: PartitionOptions;
}

/** What an application declares by the options of an adapter. */
export interface Declared {
  readonly roles: readonly AnyRole[];
  readonly partitions: readonly AnyPartition[];
}

/**
 * The roles of an application, each a name or an object with one.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
export function resolveRoles(roles: unknown = []): readonly AnyRole[] {
  if (!Array.isArray(roles)) throw invalidOption('roles', roles, "give an array, such as ['maintenance']");
  return roles.map((role: unknown, index) => {
    if (typeof role === 'string') return { name: role };
    if (typeof role === 'object' && role !== null && 'name' in role) return role as AnyRole;
    throw invalidOption(`roles[${index}]`, role, "give a name, or an object such as { name: 'maintenance', maxHold: '1h' }");
  });
}

/**
 * The partitions of an application, each a name with its options. Those are looked at when it is registered.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
export function resolvePartitions(partitions: unknown = {}): readonly AnyPartition[] {
  // Of a Map nothing would be seen, and nothing be said.
  if (!isObject(partitions) || Symbol.iterator in partitions) {
    throw invalidOption('partitions', partitions, 'give an object, such as { devices: { count: 64 } }');
  }
  return Object.entries(partitions).map(([name, options]: [string, unknown]) => {
    if (isObject(options)) return { name, options: options as PartitionOptions };
    throw invalidOption(`partitions[${JSON.stringify(name)}]`, options, 'give an object, such as { count: 64 }');
  });
}

/** @throws {LeaseholdError} whatever `Leasehold.role` and `Leasehold.partition` throw; what came before stays registered. */
export function registerDeclared(leasehold: Leasehold, { roles, partitions }: Declared): void {
  for (const { name, ...options } of roles) leasehold.role(name, options);
  for (const { name, options } of partitions) leasehold.partition(name, options);
}

/**
 * The same for a Leasehold of somebody else's, on which nothing may stay registered when a later one turns out to be invalid or
 * taken.
 *
 * @throws {LeaseholdError} whatever `Leasehold.role` and `Leasehold.partition` throw; then nothing is registered.
 */
export function registerAllOrNone(leasehold: Leasehold, declared: Declared): void {
  if (declared.roles.length + declared.partitions.length === 0) return;
  // What is there already says so best itself; the rehearsal knows its roles alone.
  for (const { name, options } of declared.partitions) if (hasPartition(leasehold, name)) leasehold.partition(name, options);
  registerDeclared(rehearsalOf(leasehold), declared);
  registerDeclared(leasehold, declared);
}

/** Whether a partition of this name is registered. */
export function hasPartition(leasehold: Pick<Leasehold, 'getPartition'>, name: string): boolean {
  try {
    leasehold.getPartition(name);
    return true;
  } catch (error) {
    if (isLeaseholdError(error, 'LEASEHOLD_UNKNOWN_ROLE')) return false;
    throw error;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
