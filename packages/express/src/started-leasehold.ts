import { isLeaseholdError, type Leasehold } from '@leasehold/core';

/** Starts and stops a Leasehold with its server. Who has started it stops it: one that ran before is left running. */
export class StartedLeasehold {
  readonly #leasehold: Leasehold;
  #startedHere = false;

  constructor(leasehold: Leasehold) {
    this.#leasehold = leasehold;
  }

  /** @throws {LeaseholdError} whatever `Leasehold.start` throws, but LEASEHOLD_ALREADY_STARTED. */
  async start(): Promise<void> {
    try {
      const started = this.#leasehold.start();
      this.#startedHere = true;
      await started;
    } catch (error) {
      this.#startedHere = false;
      if (!isLeaseholdError(error, 'LEASEHOLD_ALREADY_STARTED')) throw error;
    }
  }

  /** Resolves when the work under the roles has ended (or its time has) and the roles are given back. */
  async stop(): Promise<void> {
    if (!this.#startedHere) return;
    try {
      await this.#leasehold.stop();
    } catch (error) {
      // start() has just failed, and nobody has been told yet: there is nothing to stop.
      if (!isLeaseholdError(error, 'LEASEHOLD_NOT_STARTED')) throw error;
    }
  }
}
