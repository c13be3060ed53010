import { type Duration, resolveDuration } from '../duration.ts';
import { LeaseholdError } from '../errors.ts';
import type { RoleReport } from '../store/lease-store.ts';
import { describeLoss } from './announce.ts';
import { Candidacy, type CandidacyOptions } from './candidacy.ts';
import { CurrentTerm } from './current-term.ts';
import { Departure } from './departure.ts';
import { type RepeatedWork, Repeats } from './every.ts';
import type { LeaseHost } from './lease-host.ts';
import type { Timing } from './lease-options.ts';
import { requireFunction, requireObject } from '../require-option.ts';
import { ObservedHolder } from './observed-holder.ts';
import type { LeaseState, RoleLease, StepDownOptions, StepDownOutcome, WhileHeldResult } from './role-lease.ts';
import { RunningWork } from './running-work.ts';
import type { Belief, SentAt, Term } from './term.ts';

export interface ManagedLeaseOptions extends CandidacyOptions {
  readonly timing: Timing;
  readonly maxHoldMs: number;
}

/** What a lease asks of the next heartbeat. */
export type LeaseAsk =
  | { readonly kind: 'renew'; readonly fencingToken: bigint; readonly onlyAsMember: boolean }
  | { readonly kind: 'acquire'; readonly onlyAsMember: boolean }
  /** `competes`: it would like to have the role, and somebody else's turn is first. */
  | { readonly kind: 'observe'; readonly competes: boolean };

/**
 * One role on one instance: the current term, what was seen of others, and whether to compete. The heartbeat asks
 * {@link nextAsk} and brings the answers to {@link settle}; nothing else moves a deadline.
 */
export class ManagedLease implements RoleLease {
  readonly role: string;
  readonly timing: Timing;
  readonly #host: LeaseHost;
  readonly #maxHoldMs: number;
  readonly #term: CurrentTerm;
  readonly #candidacy: Candidacy;
  readonly #observed: ObservedHolder;
  readonly #work = new RunningWork();
  readonly #repeats = new Repeats();
  readonly #departure: Departure;
  #highestToken = 0n;
  #restraint: 'none' | 'member' | 'observer' = 'none';

  constructor(role: string, options: ManagedLeaseOptions, host: LeaseHost) {
    const { timing, maxHoldMs } = options;
    this.role = role;
    this.timing = timing;
    this.#host = host;
    this.#maxHoldMs = maxHoldMs;
    this.#term = new CurrentTerm({ role, timing, host });
    this.#candidacy = new Candidacy(host.clock, options);
    this.#observed = new ObservedHolder(host.clock);
    this.#departure = new Departure({ role, host, term: this.#term, candidacy: this.#candidacy, work: this.#work });
  }

  get isHeld(): boolean {
    return this.#term.isHeld;
  }

  get state(): LeaseState {
    if (this.#candidacy.isStopped) return 'stopped';
    if (!this.isHeld) return 'standby';
    return this.#term.isInJeopardy ? 'jeopardy' : 'held';
  }

  get fencingToken(): bigint | null {
    return this.#term.held?.fencingToken ?? null;
  }

  get currentHolder(): string | null {
    return this.isHeld ? this.#host.instance.id : (this.#observed.current?.holder ?? null);
  }

  get currentHolderAddress(): string | null {
    return this.isHeld ? this.#host.instance.address : (this.#observed.current?.holderAddress ?? null);
  }

  get remainingMs(): number {
    return this.#term.held?.remainingMs ?? 0;
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
    requireFunction('work', work);
    const term = this.#term.held;
    if (term === null) return { ran: false, currentHolder: this.currentHolder };
    return { ran: true, value: await this.#work.track(() => work(term)) };
  }

  every(interval: Duration, work: (term: Term) => unknown): RepeatedWork {
    const intervalMs = resolveDuration('interval', interval);
    requireFunction('work', work);
    if (this.#candidacy.isStopped) {
      throw new LeaseholdError('LEASEHOLD_STOPPED', `every() on role "${this.role}" after stop(); create a new Leasehold.`);
    }
    const { clock, logger } = this.#host;
    return this.#repeats.add({
      clock,
      intervalMs,
      cycle: async () => (await this.whileHeld(work)).ran,
      untilHeld: (signal) => this.#term.untilHeld(signal),
      onError: (error) => logger.error({ err: error, role: this.role }, 'a repeated cycle failed; the next one will run'),
    });
  }

  stepDown(options: StepDownOptions = {}): Promise<StepDownOutcome> {
    requireObject('options', options);
    const { standAside = this.timing.leaseMs } = options;
    const aside = standAside === 'until-told' ? Number.POSITIVE_INFINITY : resolveDuration('standAside', standAside, { min: 0 });
    return this.#departure.stepDown(aside, 'this instance stepped down');
  }

  // What follows is for the heartbeat and for stop().

  beginStop(): void {
    this.#candidacy.stop();
    this.#repeats.stop();
    this.#term.leave({ code: 'LEASEHOLD_TERM_STOPPED', why: 'this instance is stopping' });
  }

  /** What was taken before it turned out that the instance cannot start. */
  leaveAfterFailedStart(): void {
    this.#term.leave({ code: 'LEASEHOLD_TERM_STOPPED', why: 'this instance could not start' });
  }

  get isIdle(): boolean {
    return this.#work.isIdle;
  }

  /**
   * Waits for the work under the role, bounded, while the leaving term is renewed; then ends its renewals. The token is
   * that of the term to give back, or null when it is not this instance's any more.
   */
  drain(): ReturnType<Departure['drain']> {
    return this.#departure.drain();
  }

  standAside(forMs: number): void {
    this.#candidacy.standAside(forMs);
  }

  // And this for the partition that the role belongs to.

  /** From the next heartbeat on: take the role as a declared member alone, or leave it to others. */
  restrain(to: 'member' | 'observer'): void {
    this.#restraint = to;
  }

  get competes(): boolean {
    return this.#candidacy.competes;
  }

  /** The term was left, and its work drains: the row still names this instance. */
  get isLeaving(): boolean {
    return this.#departure.isUnderWay;
  }

  /** Nobody is known to hold it, or somebody said that it changed hands. */
  get mayBeVacant(): boolean {
    return !this.isHeld && !this.isLeaving && (this.#observed.current === null || this.#observed.isDoubtful);
  }

  /** Leaves the role to another member, once its work has drained. It does not stand aside: {@link restrain} keeps it away. */
  handOver(why: string): void {
    this.#departure.stepDownInBackground(0, why);
  }

  compete(): void {
    this.#candidacy.compete();
  }

  /** Monotonic deadline of the current belief, or Infinity when there is none to watch. */
  get deadline(): number {
    return this.#term.deadline;
  }

  /** Once per heartbeat: lets a term end that should not go on. */
  tend(): void {
    if (this.#candidacy.isStopped) return;
    this.#candidacy.probe();
    if (!this.isHeld) return;
    const ill = this.#candidacy.isIll;
    if (!ill && this.#term.heldForMs < this.#maxHoldMs) return;
    const why = ill ? 'the health check keeps failing' : 'the term reached maxHold';
    this.#departure.stepDownInBackground(this.timing.leaseMs, why);
  }

  /** A hint that the role changed hands. */
  wokenUp(): void {
    this.#observed.doubt();
  }

  nextAsk(): LeaseAsk {
    const fencingToken = this.#term.renewableToken;
    if (fencingToken !== null) return { kind: 'renew', fencingToken, onlyAsMember: this.#restraint !== 'none' };
    const { competes } = this.#candidacy;
    if (!competes || this.#restraint === 'observer') return { kind: 'observe', competes };
    return { kind: 'acquire', onlyAsMember: this.#restraint === 'member' };
  }

  /** The floor below which no new token may fall, even if somebody deleted the row. */
  get highestToken(): bigint {
    return this.#highestToken;
  }

  /** A heartbeat that asked for this lease failed, or told nothing about it. */
  heartbeatFailed(): void {
    this.#term.notRenewed();
  }

  /** Takes in the answer to `ask`. The result is a token to give back at once, when the role was won but is not wanted any more. */
  settle(ask: LeaseAsk, report: RoleReport, sentAt: SentAt): bigint | null {
    if (report.fencingToken > this.#highestToken) this.#highestToken = report.fencingToken;
    if (report.holder === this.#host.instance.id) this.#observed.forget();
    else this.#observed.see(report, sentAt.monotonic);
    if (ask.kind === 'renew') this.#settleRenewal(ask.fencingToken, report, sentAt);
    return ask.kind === 'acquire' ? this.#settleAcquisition(report, sentAt) : null;
  }

  #settleRenewal(token: bigint, report: RoleReport, sentAt: SentAt): void {
    if (report.outcome === 'busy') this.#term.notRenewed();
    else if (report.outcome === 'renewed' && report.fencingToken === token)
      this.#term.renewed(token, this.#belief(report, sentAt));
    else this.#term.lost(token, describeLoss(report));
  }

  #settleAcquisition(report: RoleReport, sentAt: SentAt): bigint | null {
    // A stop gives back by name whatever the row may say, after the last heartbeat.
    if (report.outcome !== 'acquired' || this.#candidacy.isStopped) return null;
    if (!this.#candidacy.competes) return report.fencingToken;
    const { fencingToken } = report;
    this.#term.begin({ holder: this.#host.instance.id, fencingToken }, this.#belief(report, sentAt));
    return null;
  }

  /** Never more than the row is kept for: a renewal takes the duration from the row, where a hand may have changed it. */
  #belief({ remainingMs }: RoleReport, sentAt: SentAt): Belief {
    const { windowMs, marginMs } = this.timing;
    return { sentAt, windowMs: Math.min(windowMs, remainingMs - marginMs) };
  }
}
