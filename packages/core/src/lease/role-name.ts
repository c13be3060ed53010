import { LeaseholdError, showValue } from '../errors.ts';

const LONGEST_ROLE = 128;

// Control characters break logs and terminals, and PostgreSQL cannot store U+0000; a lone surrogate cannot be encoded as
// UTF-8 and would arrive as another name.
const CONTROL = /\p{Cc}/u;

/**
 * Checks a role name: 1 to 128 characters (as PostgreSQL counts them), well-formed, no control characters.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_ROLE
 */
export function validateRoleName(name: unknown): string {
  const problem = findProblem(name);
  if (problem !== null) {
    throw new LeaseholdError(
      'LEASEHOLD_INVALID_ROLE',
      `role name ${showValue(name)} ${problem}; give 1 to ${LONGEST_ROLE} characters without control characters.`,
      { option: 'role' },
    );
  }
  return name as string;
}

function findProblem(name: unknown): string | null {
  if (typeof name !== 'string') return 'is not a string';
  if (name.length === 0) return 'is empty';
  const characters = [...name].length;
  if (characters > LONGEST_ROLE) return `has ${characters} characters`;
  if (CONTROL.test(name)) return 'contains a control character';
  return name.isWellFormed() ? null : 'contains a lone surrogate';
}
