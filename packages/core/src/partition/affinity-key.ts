import { LeaseholdError, showValue } from '../errors.ts';

/** In UTF-16 code units. A key is hashed at every look, and a megabyte of it is somebody's payload. */
const LONGEST_KEY = 65_536;

/** @throws {LeaseholdError} LEASEHOLD_INVALID_AFFINITY_KEY */
export function requireKey(key: string): void {
  if (typeof key === 'string' && key.length <= LONGEST_KEY) return;
  throw invalid('key', key, `give a string of at most ${LONGEST_KEY} characters; take a hash of what is longer`);
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_AFFINITY_KEY */
export function requireScope(scope: string): void {
  if (typeof scope === 'string' && scope.length <= LONGEST_KEY && scope.trim() !== '') return;
  throw invalid('scope', scope, 'give a word such as "Order", or call it with the key alone');
}

function invalid(option: 'key' | 'scope', value: unknown, fix: string): LeaseholdError {
  const what =
    typeof value === 'string' && value.length > LONGEST_KEY ? `has ${value.length} characters` : `is ${showValue(value)}`;
  return new LeaseholdError('LEASEHOLD_INVALID_AFFINITY_KEY', `affinity ${option} ${what}; ${fix}.`, { option });
}
