import type { FencedWrite } from '../../../lab/src/checker/history.ts';

/** One version of an instance's row, as a trigger of the lab's saw it. Times are the database's, microseconds since the epoch. */
export interface MemberChange {
  readonly instance: string;
  readonly at: number;
  /** Until when it counts as alive. */
  readonly until: number;
  /** The count it declared for the partition; null where it declared none. */
  readonly roles: number | null;
  readonly draining: boolean;
}

/** One turn of a key, taken under the fence of its role: from the write until its commit, it is this holder's alone. */
export interface Turn extends FencedWrite {
  readonly key: string;
}

/** A stretch in which the members were the same ones. */
export interface Epoch {
  readonly from: number;
  readonly to: number;
  readonly members: readonly string[];
}

/** The term of a role began, was given back, or ran out. */
export interface Handover {
  readonly kind: 'taken' | 'released' | 'expired';
  readonly role: string;
  readonly holder: string;
  readonly at: number;
}

/** One execution, as the instance wrote it down that executed. */
export interface Run {
  readonly id: string;
  readonly role: string;
  readonly instance: string;
  /** Reading of `nowUs`, from just before the proxy decided. */
  readonly at: number;
  /** Under which term; null when it held nothing. */
  readonly token: number | null;
}

/** What a client was told. Times are readings of `nowUs`. */
export interface Outcome {
  readonly id: string;
  readonly key: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Null without an answer. */
  readonly status: number | null;
  /** The instance that says it executed the request. */
  readonly by: string | null;
  /** Sent anew after a refusal. */
  readonly isRetry: boolean;
}

/** Which role an instance takes each key to belong to. */
export interface KeyMap {
  readonly instance: string;
  readonly roles: Readonly<Record<string, string>>;
}
