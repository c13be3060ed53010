import { silentLogger } from '@leasehold/core';
import { sayForgottenStart } from '../forgotten-start.ts';
import { guardContext } from '../guard-problem.ts';
import { requireLeasehold } from '../options.ts';
import type { HolderView, ProxyLeasehold } from '../target.ts';
import { type Guard, GuardRefusal } from './guard.ts';

const NO_LOGGER = { logger: silentLogger, hasLogger: false };

/** Lets requests run where one role is held. */
export class HolderGuard implements Guard<unknown> {
  readonly #leasehold: ProxyLeasehold;
  readonly #lease: HolderView;
  readonly #refusal: GuardRefusal;

  /**
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE: a guard of a misspelt role would let everything through, or nothing.
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when the Leasehold was forgotten.
   */
  constructor(leasehold: ProxyLeasehold, role: string) {
    requireLeasehold(leasehold);
    this.#leasehold = leasehold;
    this.#lease = leasehold.get(role);
    this.#refusal = new GuardRefusal('not-held', guardContext(leasehold, this.#lease));
  }

  check(): GuardRefusal | null {
    if (this.#lease.isHeld) return null;
    sayForgottenStart(this.#leasehold, NO_LOGGER);
    return this.#refusal;
  }
}
