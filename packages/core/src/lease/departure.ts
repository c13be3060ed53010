import type { LeaseholdErrorCode } from '../errors.ts';
import type { Candidacy } from './candidacy.ts';
import type { CurrentTerm } from './current-term.ts';
import type { LeaseHost } from './lease-host.ts';
import type { StepDownOutcome } from './role-lease.ts';
import type { RunningWork } from './running-work.ts';

export interface DepartureOptions {
  readonly role: string;
  readonly term: CurrentTerm;
  readonly candidacy: Candidacy;
  readonly work: RunningWork;
  readonly host: LeaseHost;
}

const CODE: LeaseholdErrorCode = 'LEASEHOLD_TERM_STEPPED_DOWN';

/** How one role is left: belief ends at once, the work under it drains, and then the row is given back. */
export class Departure {
  readonly #options: DepartureOptions;
  #underWay: Promise<StepDownOutcome> | null = null;

  constructor(options: DepartureOptions) {
    this.#options = options;
  }

  /** The term was left, and its work drains: the row still names this instance. */
  get isUnderWay(): boolean {
    return this.#underWay !== null;
  }

  stepDown(standAsideMs: number, why: string): Promise<StepDownOutcome> {
    const { candidacy, term } = this.#options;
    candidacy.standAside(standAsideMs);
    const wasHeld = term.leave({ code: CODE, why });
    if (!wasHeld) return this.#underWay ?? Promise.resolve('not-held');
    this.#underWay = this.#drainAndRelease().finally(() => (this.#underWay = null));
    return this.#underWay;
  }

  stepDownInBackground(standAsideMs: number, why: string): void {
    const { role, host } = this.#options;
    void this.stepDown(standAsideMs, why).catch((error: unknown) => {
      host.logger.error({ err: error, role }, 'stepping down failed; the lease will run out');
    });
  }

  async #drainAndRelease(): Promise<StepDownOutcome> {
    const { role, host } = this.#options;
    const { drained, fencingToken } = await this.drain();
    if (fencingToken === null) return 'not-held';
    return drained ? host.release(role, fencingToken) : 'not-drained';
  }

  /** See {@link ManagedLease.drain}. */
  async drain(): Promise<{ readonly drained: boolean; readonly fencingToken: bigint | null }> {
    const { work, host, term } = this.#options;
    const drained = await work.drained(host.clock, host.drainTimeoutMs);
    return { drained, fencingToken: term.takeLeavingToken() };
  }
}
