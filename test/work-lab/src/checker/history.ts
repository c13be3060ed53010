import type { OutcomeName } from '@leasehold/core/work';

/** One version of a row, as a trigger of the lab's saw it. Times are the database's, microseconds since the epoch. */
export interface Version {
  readonly op: 'INSERT' | 'UPDATE' | 'DELETE';
  readonly row: string;
  readonly at: number;
  /** When the transaction began. */
  readonly began: number;
  readonly xid: string;
  /** The process whose session wrote it. */
  readonly by: string;
  readonly created: number;
  readonly token: string | null;
  readonly until: number | null;
  readonly attempts: number;
  readonly amount: number;
  readonly finished: number | null;
  readonly buried: number | null;
  /** The claim that a handler says it wrote under. */
  readonly writtenBy: string | null;
  readonly via: string | null;
  readonly askedMs: number | null;
  readonly error: string | null;
}

/** How a claim of a row ended. `buriedByClaim`: another claim found its lease over, and no attempt left. */
export type LeaseEnd =
  | 'finished'
  | 'buried'
  | 'retried'
  | 'released'
  | 'taken'
  | 'buriedByClaim'
  | 'deleted'
  | 'freedByOther'
  | 'open';

/** One claim of one row, from the stamp of the claim to whatever ended it. */
export interface Lease {
  readonly row: string;
  readonly token: string;
  readonly by: string;
  /** When it was stamped. */
  readonly from: number;
  /** Since when the row had been due. */
  readonly due: number;
  /** The latest end that a renewal has promised. */
  until: number;
  end: LeaseEnd;
  endedAt: number;
  endXid: string;
  endVia: string | null;
}

/** What one row went through. */
export interface RowLife {
  readonly row: string;
  readonly leases: readonly Lease[];
  readonly end: 'finished' | 'buried' | 'live' | 'deleted';
}

/** A worker was told what became of a row. */
export interface Told {
  readonly row: string;
  readonly claim: string;
  readonly by: string;
  readonly outcome: OutcomeName;
  readonly fate: 'done' | 'lost' | 'gone';
}

/** A handler looked at its signal at `at` of the machine's monotonic clock or later, and it had not aborted. */
export interface Look {
  readonly row: string;
  readonly claim: string;
  readonly by: string;
  readonly at: number;
}

/** How a transaction with a business row ended, as far as its worker knows. */
export interface Booked {
  readonly row: string;
  readonly claim: string;
  readonly by: string;
  readonly end: 'committed' | 'rolledBack' | 'unknown';
}

/** A business row. */
export interface Booking {
  readonly row: string;
  readonly claim: string;
  readonly xid: string;
}
