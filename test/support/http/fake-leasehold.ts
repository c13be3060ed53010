import { LeaseholdError } from '../../../packages/core/src/index.ts';
import type { ProxyLeasehold, RoleLeaseView } from '../../../packages/proxy/src/index.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export interface FakeLeasehold extends ProxyLeasehold {
  readonly instance: Mutable<ProxyLeasehold['instance']>;
  readonly lease: Mutable<RoleLeaseView>;
}

/** One instance's view of the one role `maintenance`, set by the test. */
export function fakeLeasehold(lease: Partial<RoleLeaseView> = {}, id = 'app-01-aaaa'): FakeLeasehold {
  const view: Mutable<RoleLeaseView> = {
    role: 'maintenance',
    isHeld: false,
    fencingToken: null,
    currentHolder: null,
    currentHolderAddress: null,
    holderRemainingMs: 0,
    renewIntervalMs: 5_000,
    ...lease,
  };
  return {
    instance: { id, label: 'app-01', address: null },
    lease: view,
    get(role) {
      if (role === view.role) return view;
      throw new LeaseholdError('LEASEHOLD_UNKNOWN_ROLE', `No role '${role}' is registered.`, { role });
    },
  };
}

/** What an instance sees while another one holds. */
export function heldBy(address: string | null, holder = 'app-02-bbbb'): Partial<RoleLeaseView> {
  return { currentHolder: holder, currentHolderAddress: address, holderRemainingMs: 12_300 };
}
