import { publish } from '../diagnostics.ts';
import type { ReleaseOutcome } from '../store/lease-store.ts';
import type { ManagedLease } from './managed-lease.ts';
import { type Releasable, Releaser, type ReleaserOptions } from './releaser.ts';

/** What became of some leases at a stop. */
interface DrainResult {
  /** Drained and not given back: not held, or under another token than that of the row. */
  readonly unsure: readonly ManagedLease[];
  /** Work still runs under some of them. */
  readonly undrained: boolean;
  /** Nothing was told of any release within the budget. */
  readonly unanswered: boolean;
}

/** How an instance gives back its roles: what has drained, and what it may hold without knowing. */
export class GiveBack {
  readonly #options: ReleaserOptions;
  readonly #releaser: Releaser;

  constructor(options: ReleaserOptions) {
    this.#options = options;
    this.#releaser = new Releaser(options);
  }

  async release(role: string, fencingToken: bigint): Promise<ReleaseOutcome> {
    return (await this.#releaseAll([{ role, fencingToken }])).get(role) ?? 'unknown';
  }

  /** What is idle goes at once, in one statement, and waits for nobody's work; the heartbeat renews the rest meanwhile. */
  async drainAndReleaseAll(leases: readonly ManagedLease[]): Promise<readonly DrainResult[]> {
    const idle = leases.filter((lease) => lease.isIdle);
    const busy = leases.filter((lease) => !lease.isIdle);
    return Promise.all([this.#drainAndRelease(idle), ...busy.map((lease) => this.#drainAndRelease([lease]))]);
  }

  /**
   * After the last heartbeat: gives back by name what the rows may say is ours though we do not know of it, and strikes this
   * instance off the list of the living. Any acquisition that was given up may have taken effect, also after later answers. A
   * store that did not answer just now is not asked again.
   */
  async leave(results: readonly DrainResult[]): Promise<void> {
    if (results.some(({ unanswered }) => unanswered)) return;
    const roles = results.flatMap(({ unsure }) => unsure.map(byName));
    // Where work still runs, the instance is told of for as long as its roles are kept.
    await this.#releaser.release(roles, { leaving: !results.some(({ undrained }) => undrained) });
  }

  /** Gives back what drained in time. */
  async #drainAndRelease(leases: readonly ManagedLease[]): Promise<DrainResult> {
    const { logger } = this.#options;
    const results = await Promise.all(leases.map(async (lease) => ({ lease, ...(await lease.drain()) })));
    const releasable: Releasable[] = [];
    for (const { lease, drained, fencingToken } of results) {
      if (drained && fencingToken !== null) releasable.push({ role: lease.role, fencingToken });
      if (!drained) logger.warn({ role: lease.role }, 'work still runs at the drain timeout; the lease is left to run out');
    }
    const outcomes = releasable.length > 0 ? await this.#releaseAll(releasable) : new Map<string, ReleaseOutcome>();
    const drained = results.filter((result) => result.drained).map(({ lease }) => lease);
    return {
      unsure: drained.filter(({ role }) => (outcomes.get(role) ?? 'not-held') === 'not-held'),
      undrained: drained.length < results.length,
      unanswered: outcomes.size > 0 && [...outcomes.values()].every((outcome) => outcome === 'unknown'),
    };
  }

  async #releaseAll(roles: readonly Releasable[]): Promise<ReadonlyMap<string, ReleaseOutcome>> {
    const { instance, logger } = this.#options;
    const outcomes = await this.#releaser.release(roles, { leaving: false });
    for (const { role, fencingToken } of roles) {
      const outcome = outcomes.get(role);
      if (outcome === 'released' && fencingToken !== null)
        publish('leasehold:lease.released', { instance: instance().id, role, fencingToken });
      if (outcome === 'unknown') logger.warn({ role }, 'the role could not be given back; the lease is left to run out');
    }
    return outcomes;
  }
}

/** For a role that this instance may hold without knowing the token. */
function byName({ role }: ManagedLease): Releasable {
  return { role, fencingToken: null };
}
