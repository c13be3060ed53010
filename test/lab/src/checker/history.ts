/** A stretch of the machine's monotonic clock, in microseconds. Something happened at an instant of it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What one instance was told by `isHeld` about one term: true at an instant of `first`, and still true at one of `last`. */
export interface Belief {
  readonly instance: string;
  readonly role: string;
  readonly token: number;
  readonly first: Span;
  readonly last: Span;
}

export interface TermEvent {
  readonly kind: 'gain' | 'loss';
  readonly role: string;
  readonly token: number;
  /** Monotonic, microseconds. */
  readonly at: number;
  /** Why it was lost; null for a gain. */
  readonly reason: string | null;
}

/** What one process wrote down. */
export interface WorkerLog {
  readonly instance: string;
  /** It ended because it was told to, so that every term must have been closed. */
  readonly ended: boolean;
  readonly beliefs: readonly Belief[];
  readonly events: readonly TermEvent[];
  /** Writes that the fence refused, and those among them that were tried after the loss of the term. */
  readonly refused: { readonly all: number; readonly late: number };
  /** What must never happen within one process. */
  readonly wrong: readonly string[];
}

/** One version of a lease row, as a trigger of the lab's saw it. Times are the database's, microseconds since the epoch. */
export interface LeaseChange {
  readonly role: string;
  readonly holder: string | null;
  readonly token: number;
  readonly at: number;
  readonly acquiredAt: number;
  readonly expiresAt: number;
}

/** One term by the database's clock. */
export interface DatabaseTerm {
  readonly role: string;
  readonly token: number;
  readonly holder: string;
  readonly acquiredAt: number;
  /** When it was given back, or else when its last renewal runs out. */
  readonly until: number;
}

/** A row of Leasehold's own history of terms. */
export interface RecordedTerm {
  readonly role: string;
  readonly token: number;
  readonly holder: string;
  readonly acquiredAt: number;
  readonly endedAt: number;
}

/** A row that was written under a fence; times by the database's clock. */
export interface FencedWrite {
  readonly role: string;
  readonly token: number;
  readonly holder: string;
  readonly writtenAt: number;
  readonly committedAt: number;
  /** Tried after the instance had lost the term: the fence let it pass, because the row still named it. */
  readonly late: boolean;
}

/** What a fault touches, and so what it excuses: the instances named, the roles named, or every role. */
export type Reach =
  | { readonly of: 'instances'; readonly instances: readonly string[] }
  | { readonly of: 'roles'; readonly roles: readonly string[] }
  | { readonly of: 'all' };

export interface StruckFault {
  readonly kind: string;
  readonly reach: Reach;
  /** Monotonic, microseconds; `to` is Infinity for an instance that is gone for good. */
  readonly from: number;
  readonly to: number;
}

/** The database's clock said `database` at an instant between two readings of the monotonic one. */
export interface ClockSample extends Span {
  readonly database: number;
}

/** One instance was the only one that could win, and these roles it did not. */
export interface Contest {
  readonly instance: string;
  readonly missed: readonly string[];
}

export interface History {
  readonly leaseMs: number;
  readonly logs: readonly WorkerLog[];
  readonly changes: readonly LeaseChange[];
  readonly recorded: readonly RecordedTerm[];
  readonly writes: readonly FencedWrite[];
  readonly faults: readonly StruckFault[];
  readonly clock: readonly ClockSample[];
  readonly contests: readonly Contest[];
  /** Monotonic, microseconds: from here on nobody was left to hold anything. */
  readonly watchedUntil: number;
}

/** One thing that was wrong, in words that lead to it. */
export interface Violation {
  readonly check: string;
  readonly what: string;
}
