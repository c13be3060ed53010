import { publish, type TermMessage } from '../diagnostics.ts';
import type { LeaseholdErrorCode } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { RoleReport } from '../store/lease-store.ts';
import type { Term } from './term.ts';

export function announceAcquired(logger: Logger, term: Term): void {
  logger.info({ role: term.role, fencingToken: String(term.fencingToken) }, 'role acquired');
  publish('leasehold:lease.acquired', messageOf(term));
}

export function announceJeopardy(term: Term): void {
  publish('leasehold:lease.jeopardy', { ...messageOf(term), remainingMs: term.remainingMs });
}

export interface Loss {
  readonly code: LeaseholdErrorCode;
  readonly why: string;
}

/** An end that was asked for is worth a note; one that happened to us, a warning. */
export function announceLost(logger: Logger, term: Term, { code, why }: Loss): void {
  const asked = code === 'LEASEHOLD_TERM_STEPPED_DOWN' || code === 'LEASEHOLD_TERM_STOPPED';
  logger[asked ? 'info' : 'warn']({ role: term.role, fencingToken: String(term.fencingToken), code }, `role lost: ${why}`);
  publish('leasehold:lease.lost', { ...messageOf(term), reason: code });
}

/** Why a renewal that got this answer means that the term is over. */
export function describeLoss(report: RoleReport): string {
  if (report.outcome === 'missing') return 'its row is gone from the store';
  if (report.outcome === 'vacant') return 'the store shows the role as vacant, or the lease as run out';
  return `the store names another term as the holder (${report.holder ?? 'nobody'}, token ${report.fencingToken})`;
}

function messageOf(term: Term): TermMessage {
  return { instance: term.holder, role: term.role, fencingToken: term.fencingToken };
}
