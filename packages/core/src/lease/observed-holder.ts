import type { Clock } from '../clock.ts';
import type { RoleReport } from '../store/lease-store.ts';

/**
 * What this instance last saw of another holder. It ages: once the lease that was seen has run out on this instance's
 * own monotonic clock, nobody is named any more, so that a proxy answers "no holder" rather than dial the dead.
 */
export class ObservedHolder {
  readonly #clock: Clock;
  #report: RoleReport | null = null;
  #until = Number.NEGATIVE_INFINITY;
  #doubtful = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param sentAt monotonic time *before* the heartbeat was sent, so that belief ends early rather than late. */
  see(report: RoleReport, sentAt: number): void {
    const held = report.holder !== null && report.remainingMs > 0;
    this.#doubtful = false;
    this.#report = held ? report : null;
    this.#until = held ? sentAt + report.remainingMs : Number.NEGATIVE_INFINITY;
  }

  forget(): void {
    this.#doubtful = false;
    this.#report = null;
    this.#until = Number.NEGATIVE_INFINITY;
  }

  /** Somebody said that the role changed hands. */
  doubt(): void {
    this.#doubtful = true;
  }

  get isDoubtful(): boolean {
    return this.#doubtful;
  }

  get current(): RoleReport | null {
    return this.#clock.monotonic() < this.#until ? this.#report : null;
  }

  get remainingMs(): number {
    return Math.max(0, this.#until - this.#clock.monotonic());
  }
}
