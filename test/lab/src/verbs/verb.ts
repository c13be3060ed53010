import type { PostgresServer } from '@leasehold/testing';
import type { Admin } from '../database/admin.ts';
import type { FaultKind } from '../plan/fault.ts';
import type { Slot } from '../processes/slot.ts';

/** What every verb may need of the lab. */
export interface Bench {
  readonly server: PostgresServer;
  readonly admin: Admin;
  readonly leaseMs: number;
  readonly roles: readonly string[];
  /** Resolves after `ms`, or at once when the lab is interrupted. */
  readonly wait: (ms: number) => Promise<void>;
  readonly onFailure: (what: string) => void;
}

export interface StrikeBase {
  readonly bench: Bench;
  readonly lastsMs: number;
  /** From 0 up to 1, for what else there is to choose. */
  readonly draw: number;
  readonly role: string;
}

interface ProcessStrike extends StrikeBase {
  readonly slot: Slot;
}

/** Strikes one instance. The promise is for its recovery. */
export interface ProcessVerb extends FaultKind {
  readonly strikes: 'process';
  /** The instance is gone for good; another takes its place. */
  readonly endsInstance?: boolean;
  /** Leases must not notice: it excuses nothing. */
  readonly harmless?: boolean;
  readonly strike: (strike: ProcessStrike) => Promise<void>;
}

/** Strikes the lease row of one role, or another row that should not matter. */
export interface RowVerb extends FaultKind {
  readonly strikes: 'row';
  /** Whether the role cannot be renewed or taken meanwhile. */
  readonly stallsRole: boolean;
  readonly strike: (strike: StrikeBase) => Promise<void>;
}

/** Strikes the database, and with it everybody. */
export interface DatabaseVerb extends FaultKind {
  readonly strikes: 'database';
  readonly strike: (strike: StrikeBase) => Promise<void>;
}

export type Verb = ProcessVerb | RowVerb | DatabaseVerb;
