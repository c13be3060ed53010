export interface HealthGateOptions {
  readonly check: () => boolean | Promise<boolean>;
  readonly failuresAllowed: number;
}

/**
 * Keeps a role from an instance that is alive enough to renew and too ill to work. The check runs beside the heartbeat:
 * one that hangs counts as failed at each heartbeat that finds it still running, and delays nothing.
 */
export class HealthGate {
  readonly #options: HealthGateOptions;
  #running = false;
  #failures = 0;

  constructor(options: HealthGateOptions) {
    this.#options = options;
  }

  get isHealthy(): boolean {
    return this.#failures < this.#options.failuresAllowed;
  }

  /** Called at each heartbeat. */
  probe(): void {
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
