import { channel, type Channel } from 'node:diagnostics_channel';
import type { LeaseholdErrorCode } from './errors.ts';

/**
 * Every `diagnostics_channel` of Leasehold with the type of its message. Observation alone: no lease logic listens
 * here, and a subscriber that throws disturbs nobody (Node reports its error as uncaught).
 */
export interface DiagnosticMessages {
  /** A heartbeat got its answer, or was given up; or the store could not be opened. */
  'leasehold:heartbeat': HeartbeatMessage;
  /** A term began. */
  'leasehold:lease.acquired': TermMessage;
  /** A term ended: exactly once for each that began. */
  'leasehold:lease.lost': TermLostMessage;
  /** The store took a release. */
  'leasehold:lease.released': TermMessage;
  /** A renewal that was due has not succeeded; the lease is still held. */
  'leasehold:lease.jeopardy': TermMessage & { readonly remainingMs: number };
  /** The event loop was blocked, or the process frozen, for longer than a heartbeat may be late. */
  'leasehold:stall': { readonly instance: string; readonly lateMs: number };
  /** The claim of a worker was answered. */
  'leasehold:work.claimed': WorkClaimedMessage;
  /** The outcome of a row was written, or the row was found to be another's. */
  'leasehold:work.settled': WorkSettledMessage;
  /** A handler threw, or ran into its timeout. */
  'leasehold:work.failed': WorkFailedMessage;
  /** A handler goes on in spite of its signal; its row is given up. */
  'leasehold:work.stuck': WorkRowMessage & { readonly error: unknown };
  /** The outcome of a row could not be written as it was, or the database refuses what a claim writes into a row. */
  'leasehold:work.refused': { readonly table: string; readonly row: object; readonly error: unknown };
}

export interface HeartbeatMessage {
  readonly instance: string;
  readonly outcome: 'ok' | 'error' | 'timeout';
  readonly durationMs: number;
  readonly renewed: number;
  readonly acquired: number;
  readonly asked: number;
  readonly error?: unknown;
}

export interface TermMessage {
  readonly instance: string;
  readonly role: string;
  readonly fencingToken: bigint;
}

export interface TermLostMessage extends TermMessage {
  readonly reason: LeaseholdErrorCode;
}

export type DiagnosticChannel = keyof DiagnosticMessages;

export interface WorkClaimedMessage {
  readonly table: string;
  readonly claim: string;
  readonly asked: number;
  readonly rows: number;
  readonly buried: number;
  readonly durationMs: number;
}

export interface WorkRowMessage {
  readonly table: string;
  readonly claim: string;
  readonly row: object;
}

export interface WorkSettledMessage extends WorkRowMessage {
  readonly outcome: 'done' | 'retry' | 'release' | 'bury';
  readonly fate: 'done' | 'lost' | 'gone';
}

export interface WorkFailedMessage extends WorkRowMessage {
  readonly attempt: number | null;
  readonly error: unknown;
  readonly outcome: 'done' | 'retry' | 'release' | 'bury';
}

const names: readonly DiagnosticChannel[] = [
  'leasehold:heartbeat',
  'leasehold:lease.acquired',
  'leasehold:lease.lost',
  'leasehold:lease.released',
  'leasehold:lease.jeopardy',
  'leasehold:stall',
  'leasehold:work.claimed',
  'leasehold:work.settled',
  'leasehold:work.failed',
  'leasehold:work.stuck',
  'leasehold:work.refused',
];

export const diagnosticChannels: ReadonlyMap<DiagnosticChannel, Channel> = new Map(names.map((name) => [name, channel(name)]));

export function publish<Name extends DiagnosticChannel>(name: Name, message: DiagnosticMessages[Name]): void {
  diagnosticChannels.get(name)?.publish(message);
}
