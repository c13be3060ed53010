import type { Leasehold, LeaseState } from '@leasehold/core';

/** What `@nestjs/terminus` takes from an indicator. */
export type LeaseholdHealth<Key extends string = 'leasehold'> = Record<
  Key,
  { readonly status: 'up' | 'down'; readonly roles: Readonly<Record<string, LeaseState>> }
>;

/**
 * For `@nestjs/terminus`, which is not needed otherwise: `health.check([() => indicator.isHealthy()])`.
 *
 * Down while the store does not answer renewals of a role that is held here, and from the moment that this instance stops.
 * An instance that holds nothing is healthy.
 *
 * *Gotcha:* use it to tell whether an instance is ready, never whether it is alive: restarting does not bring a database back.
 */
export class LeaseholdHealthIndicator {
  readonly #leasehold: Leasehold;

  constructor(leasehold: Leasehold) {
    this.#leasehold = leasehold;
  }

  async isHealthy<const Key extends string = 'leasehold'>(key: Key = 'leasehold' as Key): Promise<LeaseholdHealth<Key>> {
    const states = Array.from(this.#leasehold.leases, ({ role, state }) => [role, state] as const);
    const isDown = states.some(([, state]) => state === 'jeopardy' || state === 'stopped');
    return { [key]: { status: isDown ? 'down' : 'up', roles: Object.fromEntries(states) } } as LeaseholdHealth<Key>;
  }
}
