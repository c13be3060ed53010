import type { Clock } from '../clock.ts';
import type { LeaseholdError } from '../errors.ts';
import type { TermIdentity } from '../store/lease-store.ts';
import { createTermSignal } from './term-signal.ts';

/** One unbroken time of holding a role, as the work that runs under it sees it. */
export interface Term {
  readonly role: string;
  /** Id of the instance that holds. */
  readonly holder: string;
  /** Strictly higher than that of every earlier term of the role. Hand it to every resource that can check it. */
  readonly fencingToken: bigint;
  /** Local and safe, as {@link RoleLease.isHeld}, but of this term alone: false for ever once the term is over. */
  readonly isHeld: boolean;
  /** What is left if no renewal succeeds any more, in milliseconds; 0 when the term is over. */
  readonly remainingMs: number;
  /**
   * Aborts when the term ends, with a {@link LeaseholdError} (`LEASEHOLD_TERM_…`) as its reason. Its `aborted` is as true as
   * the clock.
   *
   * *Gotcha:* its event, and a signal made of it by `AbortSignal.any()`, wait for a timer. After a freeze, look at this
   * signal or at `isHeld`.
   */
  readonly signal: AbortSignal;
  /**
   * Checks, in the transaction that is open on `client`, that this term is the current one, and holds off every
   * takeover until that transaction ends. Renewals pass.
   *
   * @throws {LeaseholdError} LEASEHOLD_FENCED when the term is over: roll back.
   * @throws {LeaseholdError} LEASEHOLD_FENCE_NEEDS_TRANSACTION when no transaction is open on `client`.
   */
  fence(client: unknown): Promise<void>;
}

/** When a heartbeat was sent, read on both clocks *before* it was. */
export interface SentAt {
  readonly monotonic: number;
  readonly wall: number;
}

/** How long a reply is worth. */
export interface Belief {
  readonly sentAt: SentAt;
  /** From `sentAt`, in milliseconds. */
  readonly windowMs: number;
}

export interface TermOptions extends Belief {
  readonly role: string;
  readonly holder: string;
  readonly fencingToken: bigint;
  readonly clock: Clock;
  readonly fence: (client: unknown, term: TermIdentity) => Promise<void>;
  /** Called by whoever first notices that the deadline has passed. */
  readonly onLapse: (term: HeldTerm) => void;
}

/** A term and the deadline of the belief in it. */
export class HeldTerm implements Term {
  readonly role: string;
  readonly holder: string;
  readonly fencingToken: bigint;
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #fence: TermOptions['fence'];
  readonly #onLapse: TermOptions['onLapse'];
  #heldUntil: number;
  #wallUntil: number;
  #ended = false;

  constructor(options: TermOptions) {
    this.role = options.role;
    this.holder = options.holder;
    this.fencingToken = options.fencingToken;
    this.#clock = options.clock;
    this.#fence = options.fence;
    this.#onLapse = options.onLapse;
    this.#heldUntil = options.sentAt.monotonic + options.windowMs;
    this.#wallUntil = options.sentAt.wall + options.windowMs;
    this.signal = createTermSignal(this.#controller, () => this.#endIfLapsed());
  }

  get isHeld(): boolean {
    if (this.#clock.monotonic() < this.#heldUntil && this.#clock.wall() < this.#wallUntil) return true;
    this.#endIfLapsed();
    return false;
  }

  get remainingMs(): number {
    if (!this.isHeld) return 0;
    return Math.max(0, Math.min(this.#heldUntil - this.#clock.monotonic(), this.#wallUntil - this.#clock.wall()));
  }

  /** The deadline on the monotonic clock; `-Infinity` once the term is over. */
  get heldUntil(): number {
    return this.#heldUntil;
  }

  /**
   * Moves the deadline to `windowMs` after the heartbeat was *sent*; only a reply that says renewed may. Also to an earlier
   * one: a renewal replaces what the row said before, so a row that is kept for less must be believed for less. The answer
   * is false when the term is over: belief that has lapsed, even unnoticed until now, is not revived.
   */
  believe({ sentAt, windowMs }: Belief): boolean {
    if (!this.isHeld) return false;
    this.#heldUntil = sentAt.monotonic + windowMs;
    this.#wallUntil = sentAt.wall + windowMs;
    return this.isHeld;
  }

  /** Ends belief first and aborts the signal second; false when the term was over already. */
  end(reason: LeaseholdError): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    this.#heldUntil = Number.NEGATIVE_INFINITY;
    this.#wallUntil = Number.NEGATIVE_INFINITY;
    this.#controller.abort(reason);
    return true;
  }

  fence(client: unknown): Promise<void> {
    return this.#fence(client, this);
  }

  #endIfLapsed(): void {
    if (this.#ended) return;
    if (this.#clock.monotonic() < this.#heldUntil && this.#clock.wall() < this.#wallUntil) return;
    this.#onLapse(this);
  }
}
