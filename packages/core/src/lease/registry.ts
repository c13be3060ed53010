import { LeaseholdError, showValue } from '../errors.ts';
import type { ManagedLease } from './managed-lease.ts';
import type { RoleLease } from './role-lease.ts';
import { Waiters } from './waiters.ts';

/** Every configured lease of one Leasehold, in the order of registration. */
export interface LeaseRegistry extends Iterable<RoleLease> {
  readonly size: number;
  has(role: string): boolean;
  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE */
  get(role: string): RoleLease;
  /** Names of the roles held at this moment: the filter for work that belongs to a role. */
  heldRoles(): string[];
  /** Resolves when the next term of any role begins here, or `signal` aborts. A term that is held already is not told. */
  nextTerm(signal: AbortSignal): Promise<void>;
}

export class ManagedRegistry implements LeaseRegistry, Iterable<ManagedLease> {
  readonly termsBegun: Waiters = new Waiters();
  readonly #leases = new Map<string, ManagedLease>();

  get size(): number {
    return this.#leases.size;
  }

  /** @throws {LeaseholdError} LEASEHOLD_DUPLICATE_ROLE */
  add(lease: ManagedLease): void {
    this.requireFree(lease.role);
    this.#leases.set(lease.role, lease);
  }

  requireFree(role: string): void {
    if (!this.#leases.has(role)) return;
    throw new LeaseholdError(
      'LEASEHOLD_DUPLICATE_ROLE',
      `role ${showValue(role)} is registered already; register it once and share it with get(${showValue(role)}).`,
      { role },
    );
  }

  has(role: string): boolean {
    return this.#leases.has(role);
  }

  find(role: string): ManagedLease | undefined {
    return this.#leases.get(role);
  }

  get(role: string): ManagedLease {
    const lease = this.#leases.get(role);
    if (lease !== undefined) return lease;
    const known = [...this.#leases.keys()].slice(0, 10).join(', ') || 'none';
    throw new LeaseholdError(
      'LEASEHOLD_UNKNOWN_ROLE',
      `role ${showValue(role)} is not registered (registered: ${known}); call role(${showValue(role)}) first.`,
      { role },
    );
  }

  heldRoles(): string[] {
    const held: string[] = [];
    for (const lease of this.#leases.values()) if (lease.isHeld) held.push(lease.role);
    return held;
  }

  nextTerm(signal: AbortSignal): Promise<void> {
    return this.termsBegun.wait(signal);
  }

  [Symbol.iterator](): Iterator<ManagedLease> {
    return this.#leases.values();
  }
}
