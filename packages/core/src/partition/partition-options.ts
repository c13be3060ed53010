import { LeaseholdError, showValue } from '../errors.ts';
import type { RoleOptions } from '../lease/lease-options.ts';
import { validateRoleName } from '../lease/role-name.ts';
import { requireThat } from '../require-option.ts';

export interface PartitionOptions extends RoleOptions {
  /**
   * How many roles the keys are spread over: 1 to 4,096. Several times the number of instances there may ever be.
   *
   * *Gotcha:* the same on every instance, for good: with another count a key belongs to another role. An instance whose count
   * differs from that of a live one does not take part, and says so.
   */
  readonly count: number;
  /**
   * - `off`: first come, first served: whoever is there first holds them all.
   * - `fair`: each live instance holds its share. Whoever has more hands over the excess, half of it with each heartbeat.
   *
   * @default 'off'
   */
  readonly balance?: 'off' | 'fair';
}

export interface ResolvedPartition {
  readonly name: string;
  readonly count: number;
  readonly isFair: boolean;
  /** The name of each role, in the order of the partitions. */
  readonly roles: readonly string[];
  readonly roleOptions: RoleOptions;
}

export const MOST_PARTITIONS = 4_096;

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_ROLE */
export function resolvePartition(name: unknown, options: PartitionOptions): ResolvedPartition {
  requireThat(typeof options === 'object' && options !== null, 'options', options, 'give an object, such as { count: 16 }');
  const { count, balance = 'off', ...roleOptions } = options;
  const isCount = Number.isInteger(count) && count >= 1 && count <= MOST_PARTITIONS;
  requireThat(isCount, 'count', count, `give an integer from 1 to ${MOST_PARTITIONS}`);
  requireThat(balance === 'off' || balance === 'fair', 'balance', balance, "give 'off' or 'fair'");
  const valid = validatePartitionName(name, count);
  const roles = Array.from({ length: count }, (_, partition) => roleOf(valid, partition));
  return { name: valid, count, isFair: balance === 'fair', roles, roleOptions };
}

/** The name of the role of one partition: a wire format, which other instances and operators know. */
function roleOf(name: string, partition: number): string {
  return `${name}:partition-${partition}`;
}

/** The longest of its role names has to be a role name. */
function validatePartitionName(name: unknown, count: number): string {
  const valid = validateRoleName(name);
  try {
    validateRoleName(roleOf(valid, count - 1));
  } catch (cause) {
    const message = `partition name ${showValue(name)} is too long: its role ${showValue(roleOf(valid, count - 1))} has more than 128 characters; shorten the name.`;
    throw new LeaseholdError('LEASEHOLD_INVALID_ROLE', message, { option: 'name', cause });
  }
  return valid;
}
