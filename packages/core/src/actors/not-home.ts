import { LeaseholdError, showValue } from '../errors.ts';
import type { RoleLease } from '../lease/role-lease.ts';

/** What an actor home needs of the lease that it hangs on. */
export type HomeLease = Pick<
  RoleLease,
  'role' | 'state' | 'fencingToken' | 'currentHolder' | 'currentHolderAddress' | 'whileHeld'
>;

/** `cause`: why the term ended, where the message came while it lasted. */
export function notHome(lease: HomeLease, actor: string, key: string, cause?: unknown): LeaseholdError {
  const { role, currentHolder: holder, currentHolderAddress: address } = lease;
  const details = { role, holder, address, ...(cause === undefined ? {} : { cause }) };
  const message = `actor ${showValue(actor)} is not at home here for key ${showValue(key)}: ${whereabouts(lease)}`;
  return new LeaseholdError('LEASEHOLD_NOT_HOME', message, details);
}

function whereabouts({ role, state, currentHolder, currentHolderAddress }: HomeLease): string {
  if (currentHolder !== null) {
    const reach = currentHolderAddress === null ? 'without an address' : `at ${currentHolderAddress}`;
    return `role ${showValue(role)} is held by ${currentHolder}, ${reach}. Send it there, by the proxy for instance.`;
  }
  if (state === 'stopped') return 'this instance is stopping. Try again on another one.';
  return `nobody is known to hold role ${showValue(role)}. Try again soon; where start() was not called, call it.`;
}
