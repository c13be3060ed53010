import type { Clock } from '../clock.ts';
import { publish } from '../diagnostics.ts';
import { type Duration, resolveDuration } from '../duration.ts';
import { LeaseholdError, type LeaseholdErrorCode } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { InstanceIdentity, ReleaseOutcome, RoleReport, TermIdentity } from '../store/lease-store.ts';
import { repeat, type RepeatedWork } from './every.ts';
import { HealthGate } from './health-gate.ts';
import type { ResolvedRoleOptions, Timing } from './lease-options.ts';
import { ObservedHolder } from './observed-holder.ts';
import type { LeaseState, RoleLease, StepDownOptions, StepDownOutcome, WhileHeldResult } from './role-lease.ts';
import { RunningWork } from './running-work.ts';
import { HeldTerm, type SentAt, type Term } from './term.ts';

/** What a lease needs of the Leasehold that it belongs to. */
export interface LeaseHost {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly drainTimeoutMs: number;
  readonly instance: InstanceIdentity;
  fence(client: unknown, term: TermIdentity): Promise<void>;
  /** Gives one role back within the release budget. */
  release(role: string, fencingToken: bigint): Promise<ReleaseOutcome>;
}

/** What a lease asks of the next heartbeat. */
export type LeaseAsk =
  | { readonly kind: 'renew'; readonly fencingToken: bigint }
  | { readonly kind: 'acquire' }
  | { readonly kind: 'observe' };

/**
 * The state of one role on one instance: the current term, the term that is leaving, what was seen of others, and
 * whether to compete. The heartbeat asks {@link nextAsk} and brings the answers to {@link settle}; nothing else moves a
 * deadline.
 */
export class ManagedLease implements RoleLease {
  readonly role: string;
  readonly timing: Timing;
  readonly #host: LeaseHost;
  readonly #maxHoldMs: number;
  readonly #health: HealthGate | null;
  readonly #observed: ObservedHolder;
  readonly #work = new RunningWork();
  readonly #repeats = new Set<RepeatedWork>();
  #term: HeldTerm | null = null;
  #termSince = 0;
  /** Ended here, but renewed while its work drains, so that a last fenced write still finds it. */
  #leaving: HeldTerm | null = null;
  #departure: Promise<StepDownOutcome> | null = null;
  #standAsideUntil = Number.NEGATIVE_INFINITY;
  #stopped = false;
  #jeopardy = false;
  #renewedAt = 0;
  #highestToken = 0n;
  /** An acquisition whose outcome is unknown, or a lapsed term: the row may name this instance. */
  #mayBeNamed = false;

  constructor(role: string, options: ResolvedRoleOptions, host: LeaseHost) {
    this.role = role;
    this.timing = options.timing;
    this.#host = host;
    this.#maxHoldMs = options.maxHoldMs;
    this.#health =
      options.healthCheck === null
        ? null
        : new HealthGate({ check: options.healthCheck, failuresAllowed: options.healthCheckFailures });
    this.#observed = new ObservedHolder(host.clock);
  }

  get isHeld(): boolean {
    const term = this.#term;
    return term !== null && term.isHeld;
  }

  get state(): LeaseState {
    if (this.#stopped) return 'stopped';
    if (!this.isHeld) return 'standby';
    const overdueAt = this.#renewedAt + this.timing.renewMs * OVERDUE_FACTOR;
    return this.#jeopardy || this.#host.clock.monotonic() > overdueAt ? 'jeopardy' : 'held';
  }

  get fencingToken(): bigint | null {
    return this.isHeld ? (this.#term?.fencingToken ?? null) : null;
  }

  get currentHolder(): string | null {
    return this.isHeld ? this.#host.instance.id : (this.#observed.current?.holder ?? null);
  }

  get currentHolderAddress(): string | null {
    return this.isHeld ? this.#host.instance.address : (this.#observed.current?.holderAddress ?? null);
  }

  get remainingMs(): number {
    return this.#term?.remainingMs ?? 0;
  }

  get holderRemainingMs(): number {
    return this.isHeld ? this.remainingMs : this.#observed.remainingMs;
  }

  get renewIntervalMs(): number {
    return this.timing.renewMs;
  }

  get leaseDurationMs(): number {
    return this.timing.leaseMs;
  }

  async whileHeld<T>(work: (term: Term) => T | Promise<T>): Promise<WhileHeldResult<T>> {
    const term = this.#term;
    if (term === null || !term.isHeld) return { ran: false, currentHolder: this.currentHolder };
    return { ran: true, value: await this.#work.track(() => work(term)) };
  }

  every(interval: Duration, work: (term: Term) => unknown): RepeatedWork {
    const intervalMs = resolveDuration('interval', interval);
    if (this.#stopped)
      throw new LeaseholdError('LEASEHOLD_STOPPED', `every() on role "${this.role}" after stop(); create a new Leasehold.`);
    const { clock, logger } = this.#host;
    const repeats = repeat({
      clock,
      intervalMs,
      cycle: () => this.whileHeld(work),
      onError: (error) => logger.error({ err: error, role: this.role }, 'a repeated cycle failed; the next one will run'),
    });
    this.#repeats.add(repeats);
    return repeats;
  }

  stepDown(options: StepDownOptions = {}): Promise<StepDownOutcome> {
    const { standAside = this.timing.leaseMs } = options;
    const aside = standAside === 'until-told' ? Number.POSITIVE_INFINITY : resolveDuration('standAside', standAside, { min: 0 });
    return this.#stepDown(aside, 'this instance stepped down');
  }

  #stepDown(standAsideMs: number, why: string): Promise<StepDownOutcome> {
    this.#standAsideUntil = Math.max(this.#standAsideUntil, this.#host.clock.monotonic() + standAsideMs);
    if (!this.beginLeaving('LEASEHOLD_TERM_STEPPED_DOWN', why)) return this.#departure ?? Promise.resolve('not-held');
    this.#departure = this.#drainAndRelease().finally(() => (this.#departure = null));
    return this.#departure;
  }

  async #drainAndRelease(): Promise<StepDownOutcome> {
    const drained = await this.drained(this.#host.drainTimeoutMs);
    const token = this.takeLeavingToken();
    if (token === null) return 'not-held';
    return drained ? this.#host.release(this.role, token) : 'not-drained';
  }

  // What follows is for the heartbeat and for stop().

  /** Stops belief and aborts the signal; the row stays renewed until {@link takeLeavingToken}. False when not held. */
  beginLeaving(code: LeaseholdErrorCode, why: string): boolean {
    const term = this.#term;
    if (term === null || !term.isHeld) return false;
    this.#leaving = term;
    this.#endTerm(term, code, why);
    return true;
  }

  /** Ends the leaving term's renewals, and answers its token if it is still this instance's to give back. */
  takeLeavingToken(): bigint | null {
    const leaving = this.#leaving;
    this.#leaving = null;
    return leaving?.fencingToken ?? null;
  }

  drained(timeoutMs: number): Promise<boolean> {
    return this.#work.drained(this.#host.clock, timeoutMs);
  }

  beginStop(): void {
    this.#stopped = true;
    for (const repeated of this.#repeats) void repeated.stop();
    this.beginLeaving('LEASEHOLD_TERM_STOPPED', 'this instance is stopping');
  }

  compete(): void {
    this.#standAsideUntil = Number.NEGATIVE_INFINITY;
  }

  /** Monotonic deadline of the current belief, or Infinity when there is none to watch. */
  get deadline(): number {
    return this.#term?.heldUntil ?? Number.POSITIVE_INFINITY;
  }

  get mayBeNamed(): boolean {
    return this.#mayBeNamed;
  }

  get standsAsideUntil(): number {
    return this.#standAsideUntil;
  }

  get #competes(): boolean {
    if (this.#stopped || this.#host.clock.monotonic() < this.#standAsideUntil) return false;
    return this.#health?.isHealthy ?? true;
  }

  /** Once per heartbeat: lets a term end that should not go on. */
  tend(): void {
    if (this.#stopped) return;
    this.#health?.probe();
    if (!this.isHeld) return;
    const ill = this.#health?.isHealthy === false;
    if (!ill && this.#host.clock.monotonic() - this.#termSince < this.#maxHoldMs) return;
    const why = ill ? 'the health check keeps failing' : 'the term reached maxHold';
    void this.#stepDown(this.timing.leaseMs, why).catch((error: unknown) => {
      this.#host.logger.error({ err: error, role: this.role }, 'stepping down failed; the lease will run out');
    });
  }

  nextAsk(): LeaseAsk {
    if (this.isHeld && this.#term !== null) return { kind: 'renew', fencingToken: this.#term.fencingToken };
    if (this.#leaving !== null) return { kind: 'renew', fencingToken: this.#leaving.fencingToken };
    if (!this.#competes) return { kind: 'observe' };
    this.#mayBeNamed = true;
    return { kind: 'acquire' };
  }

  /** The floor below which no new token may fall, even if somebody deleted the row. */
  get highestToken(): bigint {
    return this.#highestToken;
  }

  /** A heartbeat that asked for this lease failed, or told nothing about it. Moves no deadline. */
  heartbeatFailed(): void {
    if (!this.isHeld || this.#jeopardy) return;
    this.#jeopardy = true;
    publish('leasehold:lease.jeopardy', { ...this.#termMessage(this.#term as HeldTerm), remainingMs: this.remainingMs });
  }

  /** Takes in the answer to `ask`. The result is a token to give back at once, when the role was won but is not wanted any more. */
  settle(ask: LeaseAsk, report: RoleReport, sentAt: SentAt): bigint | null {
    if (report.fencingToken > this.#highestToken) this.#highestToken = report.fencingToken;
    this.#see(report, sentAt);
    if (ask.kind === 'renew') this.#settleRenewal(ask.fencingToken, report, sentAt);
    if (ask.kind === 'acquire') return this.#settleAcquisition(report, sentAt);
    return null;
  }

  #see(report: RoleReport, sentAt: SentAt): void {
    if (report.holder === this.#host.instance.id) this.#observed.forget();
    else this.#observed.see(report, sentAt.monotonic);
  }

  #settleRenewal(token: bigint, report: RoleReport, sentAt: SentAt): void {
    const renewed = report.outcome === 'renewed' && report.fencingToken === token;
    if (this.#leaving?.fencingToken === token && !renewed && report.outcome !== 'busy') this.#leaving = null;
    const term = this.#term;
    if (term?.fencingToken !== token) return;
    if (renewed) this.#extend(term, sentAt);
    else if (report.outcome === 'busy') this.heartbeatFailed();
    else this.#endTerm(term, 'LEASEHOLD_TERM_LOST', describeLoss(report));
  }

  #extend(term: HeldTerm, sentAt: SentAt): void {
    if (!term.extend(sentAt, this.timing.windowMs)) return;
    this.#jeopardy = false;
    this.#renewedAt = sentAt.monotonic;
  }

  #settleAcquisition(report: RoleReport, sentAt: SentAt): bigint | null {
    if (report.outcome !== 'acquired') {
      this.#mayBeNamed = report.outcome === 'busy' && report.holder === this.#host.instance.id;
      return null;
    }
    if (!this.#competes) return report.fencingToken;
    if (this.#isStillWorthBelieving(sentAt)) this.#beginTerm(report.fencingToken, sentAt);
    return null;
  }

  /** A reply that took longer than its own window proves nothing any more; the next heartbeat takes the row anew. */
  #isStillWorthBelieving(sentAt: SentAt): boolean {
    const { clock } = this.#host;
    const { windowMs } = this.timing;
    return clock.monotonic() < sentAt.monotonic + windowMs && clock.wall() < sentAt.wall + windowMs;
  }

  #beginTerm(fencingToken: bigint, sentAt: SentAt): void {
    const { clock, instance, logger } = this.#host;
    this.#mayBeNamed = false;
    this.#jeopardy = false;
    this.#renewedAt = sentAt.monotonic;
    this.#termSince = clock.monotonic();
    this.#term = new HeldTerm({
      role: this.role,
      holder: instance.id,
      fencingToken,
      clock,
      sentAt,
      windowMs: this.timing.windowMs,
      fence: (client, term) => this.#host.fence(client, term),
      onLapse: (term) => this.#endTerm(term, 'LEASEHOLD_TERM_EXPIRED', 'no renewal succeeded before the deadline'),
    });
    logger.info({ role: this.role, fencingToken: String(fencingToken) }, 'role acquired');
    publish('leasehold:lease.acquired', this.#termMessage(this.#term));
  }

  /** State first, then the term's signal, then diagnostics; exactly once for each term. */
  #endTerm(term: HeldTerm, code: LeaseholdErrorCode, why: string): void {
    if (this.#term !== term) return;
    this.#term = null;
    this.#jeopardy = false;
    this.#mayBeNamed = code === 'LEASEHOLD_TERM_EXPIRED';
    const message = `term ${term.fencingToken} of role "${this.role}" ended: ${why}.`;
    if (!term.end(new LeaseholdError(code, message, { role: this.role }))) return;
    const asked = code === 'LEASEHOLD_TERM_STEPPED_DOWN' || code === 'LEASEHOLD_TERM_STOPPED';
    this.#host.logger[asked ? 'info' : 'warn'](
      { role: this.role, fencingToken: String(term.fencingToken), code },
      `role lost: ${why}`,
    );
    publish('leasehold:lease.lost', { ...this.#termMessage(term), reason: code });
  }

  #termMessage(term: HeldTerm): { instance: string; role: string; fencingToken: bigint } {
    return { instance: this.#host.instance.id, role: this.role, fencingToken: term.fencingToken };
  }
}

/** A renewal is late, and the lease in jeopardy, when a fifth of the interval has passed since it was due. */
const OVERDUE_FACTOR = 1.2;

function describeLoss(report: RoleReport): string {
  if (report.outcome === 'missing') return 'its row is gone from the store';
  if (report.outcome === 'vacant') return 'the store shows the role as vacant, or the lease as run out';
  return `the store names another term as the holder (${report.holder ?? 'nobody'}, token ${report.fencingToken})`;
}
