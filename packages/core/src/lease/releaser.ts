import { type Clock, delay } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { callStore } from '../store/call-store.ts';
import type { InstanceIdentity, LeaseStore, ReleaseOutcome } from '../store/lease-store.ts';

export interface ReleaserOptions {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly instance: () => InstanceIdentity;
  /** The time that one release may take, retries included. It is nobody else's: not the drain's, not a cancelled caller's. */
  readonly budgetMs: number;
}

export interface Releasable {
  readonly role: string;
  /** Null: the role may be this instance's without its knowing the token. */
  readonly fencingToken: bigint | null;
}

const RETRY_MS = 50;

/** Gives roles back, trying again within the budget what failed or was locked. Never rejects: what stays is `unknown`, and runs out. */
export class Releaser {
  readonly #options: ReleaserOptions;

  constructor(options: ReleaserOptions) {
    this.#options = options;
  }

  async release(
    roles: readonly Releasable[],
    options: { readonly leaving: boolean },
  ): Promise<ReadonlyMap<string, ReleaseOutcome>> {
    const { clock, budgetMs } = this.#options;
    const outcomes = new Map<string, ReleaseOutcome>(roles.map(({ role }) => [role, 'unknown']));
    const endsAt = clock.monotonic() + budgetMs;
    let open = roles;
    for (let tries = 0; tries === 0 || open.length > 0; tries += 1) {
      const leftMs = endsAt - clock.monotonic();
      if (leftMs <= 0) break;
      // Not all of it: a connection that died unnoticed answers nothing, and a new one may.
      const told = await this.#try(open, options.leaving, leftMs / 2);
      for (const [role, outcome] of told ?? []) outcomes.set(role, outcome);
      open = roles.filter(({ role }) => outcomes.get(role) === 'unknown');
      if (told === null || open.length > 0) await delay(clock, RETRY_MS);
    }
    return outcomes;
  }

  async #try(
    roles: readonly Releasable[],
    leaving: boolean,
    timeoutMs: number,
  ): Promise<ReadonlyMap<string, ReleaseOutcome> | null> {
    const { store, clock, instance, logger } = this.#options;
    try {
      const request = { instance: instance(), roles, leaving };
      const reply = await callStore({ clock, timeoutMs, what: 'release' }, (call) => store.release(request, call));
      return new Map(reply.roles);
    } catch (error) {
      logger.debug({ err: error, roles: roles.map(({ role }) => role) }, 'a release failed');
      return null;
    }
  }
}
