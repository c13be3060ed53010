import type { RoleReport } from '../store/lease-store.ts';
import type { LeaseAsk } from './managed-lease.ts';

/** A number from 0 up to, not including, 1. */
export type Random = () => number;

const FIRST_RETRY_MS = 100;
const WAKE_JITTER_MS = 50;
/** A locked row is tried again long before a whole interval: a fenced transaction usually ends soon. */
const BUSY_RETRY_MS = 100;
const BUSY_JITTER_MS = 150;

/** The next regular heartbeat: up to a tenth early, so that a fleet started together does not beat together. */
export function nextBeatDelay(renewMs: number, random: Random): number {
  return renewMs * (1 - 0.1 * random());
}

/** After the n-th failure in a row (from 1): doubling from 100 ms to half the interval, the upper half of it jittered. It never ends. */
export function retryDelay(failures: number, renewMs: number, random: Random): number {
  const longest = Math.min(renewMs / 2, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 30));
  return longest * (0.5 + 0.5 * random());
}

/** After a hint that a role changed hands: spread, so that not every candidate asks in the same millisecond. */
export function wakeDelay(random: Random): number {
  return WAKE_JITTER_MS * random();
}

/**
 * When to ask for one role again *before* its next regular heartbeat, in milliseconds from the answer; Infinity when
 * the regular one is soon enough.
 */
export function earlyRetryDelay(ask: LeaseAsk, report: RoleReport, random: Random): number {
  if (report.outcome === 'busy') return BUSY_RETRY_MS + BUSY_JITTER_MS * random();
  const wanted = ask.kind === 'acquire' || (ask.kind === 'observe' && ask.competes);
  if (wanted && report.outcome === 'held') return report.remainingMs + wakeDelay(random);
  if (ask.kind === 'acquire' && report.outcome === 'vacant') return BUSY_RETRY_MS;
  // A new row of a partition: the store creates it, and leaves the decision to the next heartbeat.
  if (ask.kind === 'acquire' && ask.onlyAsMember && report.outcome === 'missing') return BUSY_RETRY_MS;
  const lost = ask.kind === 'renew' && report.outcome !== 'renewed';
  return lost ? wakeDelay(random) : Number.POSITIVE_INFINITY;
}
