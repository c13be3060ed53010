import type { Clock } from '../clock.ts';
import type { ResolvedRoleOptions } from './lease-options.ts';

export interface HealthGateOptions {
  readonly clock: Clock;
  /** Of the regular heartbeats, in milliseconds. */
  readonly intervalMs: number;
  readonly check: () => boolean | Promise<boolean>;
  readonly failuresAllowed: number;
}

/** The check that the options of a role ask for, or null. */
export function createHealthGate(clock: Clock, options: ResolvedRoleOptions): HealthGate | null {
  const { healthCheck: check, healthCheckFailures: failuresAllowed, timing } = options;
  return check === null ? null : new HealthGate({ clock, intervalMs: timing.renewMs, check, failuresAllowed });
}

/** A regular heartbeat may come a little early; one that comes sooner than this part of the interval is not a regular one. */
const REGULAR = 0.75;

/**
 * Keeps a role from an instance that is alive enough to renew and too ill to work. The check runs beside the heartbeat:
 * one that hangs counts as failed at each regular heartbeat that finds it still running, and delays nothing. Heartbeats that
 * come early (a retry, a wake-up) ask nothing: while the store is away they come many in a second, and a check that
 * takes a second is not ill.
 */
export class HealthGate {
  readonly #options: HealthGateOptions;
  #running = false;
  #nextAt = Number.NEGATIVE_INFINITY;
  #failures = 0;

  constructor(options: HealthGateOptions) {
    this.#options = options;
  }

  get isHealthy(): boolean {
    return this.#failures < this.#options.failuresAllowed;
  }

  /** Called at each heartbeat. */
  probe(): void {
    const { clock, intervalMs } = this.#options;
    if (clock.monotonic() < this.#nextAt) return;
    this.#nextAt = clock.monotonic() + intervalMs * REGULAR;
    if (this.#running) {
      this.#failures += 1;
      return;
    }
    this.#running = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    let passed = false;
    try {
      passed = (await this.#options.check()) === true;
    } catch {
      // A check that throws says what a check that answers false says.
    }
    this.#running = false;
    this.#failures = passed ? 0 : this.#failures + 1;
  }
}
