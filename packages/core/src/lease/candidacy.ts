import type { Clock } from '../clock.ts';
import { HealthGate } from './health-gate.ts';
import type { ResolvedRoleOptions } from './lease-options.ts';

/** Whether this instance wants the role at all: it does, unless it stops, stands aside, or is too ill to work. */
export class Candidacy {
  readonly #clock: Clock;
  readonly #health: HealthGate | null;
  #standAsideUntil = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(clock: Clock, { healthCheck, healthCheckFailures, timing }: ResolvedRoleOptions) {
    this.#clock = clock;
    const options = { clock, intervalMs: timing.renewMs, failuresAllowed: healthCheckFailures };
    this.#health = healthCheck === null ? null : new HealthGate({ check: healthCheck, ...options });
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  get isIll(): boolean {
    return this.#health?.isHealthy === false;
  }

  get competes(): boolean {
    return !this.#stopped && !this.isIll && this.#clock.monotonic() >= this.#standAsideUntil;
  }

  probe(): void {
    this.#health?.probe();
  }

  /** For this long at least; Infinity is until {@link compete}. */
  standAside(forMs: number): void {
    this.#standAsideUntil = Math.max(this.#standAsideUntil, this.#clock.monotonic() + forMs);
  }

  compete(): void {
    this.#standAsideUntil = Number.NEGATIVE_INFINITY;
  }

  stop(): void {
    this.#stopped = true;
  }
}
