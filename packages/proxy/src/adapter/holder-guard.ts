import { guardContext } from '../guard-problem.ts';
import { requireLeasehold } from '../options.ts';
import type { HolderView, ProxyLeasehold } from '../target.ts';
import { type Guard, GuardRefusal } from './guard.ts';

/** Lets requests run where one role is held. */
export class HolderGuard implements Guard<unknown> {
  readonly #lease: HolderView;
  readonly #refusal: GuardRefusal;

  /**
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE: a guard of a misspelt role would let everything through, or nothing.
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when the Leasehold was forgotten.
   */
  constructor(leasehold: ProxyLeasehold, role: string) {
    requireLeasehold(leasehold);
    this.#lease = leasehold.get(role);
    this.#refusal = new GuardRefusal('not-held', guardContext(leasehold, this.#lease));
  }

  check(): GuardRefusal | null {
    return this.#lease.isHeld ? null : this.#refusal;
  }
}
