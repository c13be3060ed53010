import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { requireThat } from './require-option.ts';

export interface InstanceOptions {
  /** For people, in logs and on the dashboard: 1 to 64 characters. @default the host name */
  readonly label?: string;
  /** Origin where the other instances reach this one, such as `https://app-03.internal:8443`. An adapter can tell it later. @default none */
  readonly address?: string;
  /**
   * The instance's share of each fair partition, in relation to those of the others: 2 holds twice as many roles as 1. An integer
   * from 1 to 1,000.
   *
   * @default 1
   */
  readonly weight?: number;
}

const LONGEST_LABEL = 64;

const MOST_WEIGHT = 1_000;

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function resolveWeight(weight: number = 1): number {
  const valid = Number.isInteger(weight) && weight >= 1 && weight <= MOST_WEIGHT;
  requireThat(valid, 'instance.weight', weight, `give an integer from 1 to ${MOST_WEIGHT}; canHold keeps an instance from roles`);
  return weight;
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function resolveLabel(label: string | undefined): string {
  const given = label ?? hostname().slice(0, LONGEST_LABEL);
  const valid =
    typeof given === 'string' &&
    given.length >= 1 &&
    given.length <= LONGEST_LABEL &&
    !/\p{Cc}/u.test(given) &&
    given.isWellFormed();
  requireThat(valid, 'instance.label', label, `give 1 to ${LONGEST_LABEL} characters without control characters`);
  return given;
}

/**
 * An id that no other process has or ever had. A process that restarts under the same host name must not be taken for
 * its former self, whose lease may still be on the row.
 */
export function createInstanceId(label: string): string {
  return `${label}-${randomBytes(8).toString('hex')}`;
}
