import { LeaseholdError } from '../errors.ts';
import type { Term } from '../lease/term.ts';
import type { HomeLease } from './not-home.ts';

const HOLDER = 'this process';

/** In place of a lease, where there is no Leasehold: held for ever, by every process that has one. */
export function localLease(role: string): HomeLease {
  const term: Term = {
    role,
    holder: HOLDER,
    fencingToken: 1n,
    isHeld: true,
    remainingMs: Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
    fence: () => Promise.reject(noFence(role)),
  };
  return {
    role,
    state: 'held',
    fencingToken: term.fencingToken,
    currentHolder: HOLDER,
    currentHolderAddress: null,
    whileHeld: async (work) => ({ ran: true, value: await work(term) }),
  };
}

function noFence(role: string): LeaseholdError {
  const message = 'actorHome() was made without a Leasehold, so there is no row to check; give it one, actorHome(leasehold).';
  return new LeaseholdError('LEASEHOLD_FENCE_UNSUPPORTED', message, { role });
}
