import { nextBeatDelay, type Random } from './pacing.ts';
import type { ManagedLease } from './managed-lease.ts';

/** A heartbeat that is due this soon rides along with one that is due now: a tenth of its interval. */
const RIDE_ALONG = 0.1;

/**
 * Which leases the next heartbeat asks for, and when. Leases of one renew interval share one beat, so that a process
 * with thousands of roles still sends one statement per interval; a single lease may ask early (after a wake-up, a locked
 * row, an expiry that is near).
 */
export class Schedule {
  readonly #leases: Iterable<ManagedLease>;
  readonly #random: Random;
  readonly #beats = new Map<number, number>();
  readonly #early = new Map<ManagedLease, number>();

  constructor(leases: Iterable<ManagedLease>, random: Random) {
    this.#leases = leases;
    this.#random = random;
  }

  /** Adds an interval whose first beat is due at once. */
  addInterval(renewMs: number, now: number): void {
    if (!this.#beats.has(renewMs)) this.#beats.set(renewMs, now);
  }

  /** The pace of the role that has the least time to lose; Infinity without any. */
  get shortestIntervalMs(): number {
    return Math.min(...this.#beats.keys());
  }

  askEarly(lease: ManagedLease, at: number): void {
    if (at === Number.POSITIVE_INFINITY) return;
    this.#early.set(lease, Math.min(at, this.#early.get(lease) ?? Number.POSITIVE_INFINITY));
  }

  askAll(now: number): void {
    for (const renewMs of this.#beats.keys()) this.#beats.set(renewMs, now);
  }

  get nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const at of this.#beats.values()) next = Math.min(next, at);
    for (const at of this.#early.values()) next = Math.min(next, at);
    return next;
  }

  /** The leases due at `now`; their next regular beat is set from here. */
  takeDue(now: number): ManagedLease[] {
    const due = new Set<ManagedLease>();
    const intervals = new Set<number>();
    for (const [renewMs, at] of this.#beats) {
      if (at > now + renewMs * RIDE_ALONG) continue;
      intervals.add(renewMs);
      this.#beats.set(renewMs, now + nextBeatDelay(renewMs, this.#random));
    }
    for (const lease of this.#leases) {
      if (intervals.has(lease.timing.renewMs) || (this.#early.get(lease) ?? Number.POSITIVE_INFINITY) <= now) due.add(lease);
    }
    for (const lease of due) this.#early.delete(lease);
    return [...due];
  }
}
