import { LeaseholdError } from '../errors.ts';
import type { TermIdentity } from '../store/lease-store.ts';
import { announceAcquired, announceJeopardy, announceLost, type Loss } from './announce.ts';
import type { LeaseHost } from './lease-host.ts';
import type { Timing } from './lease-options.ts';
import { type Belief, HeldTerm } from './term.ts';
import { Waiters } from './waiters.ts';

/** A renewal is late, and the lease in jeopardy, when a fifth of the interval has passed since it was due. */
const OVERDUE_FACTOR = 1.2;

export interface CurrentTermOptions {
  readonly role: string;
  readonly timing: Timing;
  readonly host: Pick<LeaseHost, 'clock' | 'logger' | 'fence' | 'termsBegun'>;
}

/**
 * The term that this instance believes in, if any: the only place where a term begins, is extended, and ends. Each one
 * that begins ends exactly once.
 */
export class CurrentTerm {
  readonly #options: CurrentTermOptions;
  #term: HeldTerm | null = null;
  #since = 0;
  #renewedAt = 0;
  #jeopardy = false;
  /** Ended here, but renewed while its work drains, so that a last fenced write still finds it. */
  #leaving: HeldTerm | null = null;
  readonly #begun = new Waiters();

  constructor(options: CurrentTermOptions) {
    this.#options = options;
  }

  /** The term, if it is held at this moment. */
  get held(): HeldTerm | null {
    const term = this.#term;
    return term !== null && term.isHeld ? term : null;
  }

  get isHeld(): boolean {
    const term = this.#term;
    return term !== null && term.isHeld;
  }

  get isInJeopardy(): boolean {
    const overdueAt = this.#renewedAt + this.#options.timing.renewMs * OVERDUE_FACTOR;
    return this.isHeld && (this.#jeopardy || this.#options.host.clock.monotonic() > overdueAt);
  }

  /** Resolves when a term begins or is held already, or `signal` aborts. */
  async untilHeld(signal: AbortSignal): Promise<void> {
    if (!this.isHeld) await this.#begun.wait(signal);
  }

  /** Monotonic deadline of the belief; Infinity when there is none. */
  get deadline(): number {
    return this.#term?.heldUntil ?? Number.POSITIVE_INFINITY;
  }

  get heldForMs(): number {
    return this.#options.host.clock.monotonic() - this.#since;
  }

  /** The token to renew: of the term, or of the one that is leaving. */
  get renewableToken(): bigint | null {
    return (this.held ?? this.#leaving)?.fencingToken ?? null;
  }

  /** Begins nothing when the reply took longer than its own window: it proves nothing any more. */
  begin(identity: Omit<TermIdentity, 'role'>, { sentAt, windowMs }: Belief): void {
    const { host, role } = this.#options;
    const { clock } = host;
    const proves = clock.monotonic() < sentAt.monotonic + windowMs && clock.wall() < sentAt.wall + windowMs;
    if (!proves) return;
    const onLapse = (term: HeldTerm): void =>
      this.#end(term, { code: 'LEASEHOLD_TERM_EXPIRED', why: 'no renewal succeeded before the deadline' });
    this.#since = clock.monotonic();
    this.#renewedAt = sentAt.monotonic;
    this.#jeopardy = false;
    this.#term = new HeldTerm({ ...identity, role, clock, sentAt, windowMs, fence: host.fence.bind(host), onLapse });
    announceAcquired(host.logger, this.#term);
    this.#begun.tell();
    host.termsBegun.tell();
  }

  /** A renewal under `token` succeeded. */
  renewed(token: bigint, belief: Belief): void {
    const term = this.#term;
    if (term?.fencingToken !== token || !term.believe(belief)) return;
    this.#jeopardy = false;
    this.#renewedAt = belief.sentAt.monotonic;
  }

  /** A renewal that was due did not succeed, or its outcome is unknown. Moves no deadline. */
  notRenewed(): void {
    const term = this.held;
    if (term === null || this.#jeopardy) return;
    this.#jeopardy = true;
    announceJeopardy(term);
  }

  /** The store does not name the term of this token any more. */
  lost(token: bigint, why: string): void {
    if (this.#leaving?.fencingToken === token) this.#leaving = null;
    const term = this.#term;
    if (term?.fencingToken === token) this.#end(term, { code: 'LEASEHOLD_TERM_LOST', why });
  }

  /** Stops belief and aborts the signal; the row stays renewed until {@link takeLeavingToken}. False when not held. */
  leave(loss: Loss): boolean {
    const term = this.held;
    if (term === null) return false;
    this.#leaving = term;
    this.#end(term, loss);
    return true;
  }

  /** Ends the leaving term's renewals, and answers its token if it is still this instance's to give back. */
  takeLeavingToken(): bigint | null {
    const leaving = this.#leaving;
    this.#leaving = null;
    return leaving?.fencingToken ?? null;
  }

  /** State first, then the term's signal, then diagnostics; exactly once for each term. */
  #end(term: HeldTerm, loss: Loss): void {
    if (this.#term !== term) return;
    this.#term = null;
    this.#jeopardy = false;
    const message = `term ${term.fencingToken} of role "${term.role}" ended: ${loss.why}.`;
    if (term.end(new LeaseholdError(loss.code, message, { role: term.role })))
      announceLost(this.#options.host.logger, term, loss);
  }
}
