import type { Clock } from '../clock.ts';
import type { HealthGate } from './health-gate.ts';

export interface CandidacyOptions {
  /** Null where the role has no health check. The roles of a partition share one. */
  readonly health: HealthGate | null;
  /** This instance never competes for the role. */
  readonly excluded: boolean;
}

/** Whether this instance wants the role at all: it does, unless it stops, stands aside, is excluded, or is too ill to work. */
export class Candidacy {
  readonly #clock: Clock;
  readonly #health: HealthGate | null;
  readonly #excluded: boolean;
  #standAsideUntil = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(clock: Clock, { health, excluded }: CandidacyOptions) {
    this.#clock = clock;
    this.#health = health;
    this.#excluded = excluded;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  get isIll(): boolean {
    return this.#health?.isHealthy === false;
  }

  get competes(): boolean {
    return !this.#stopped && !this.#excluded && !this.isIll && this.#clock.monotonic() >= this.#standAsideUntil;
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
