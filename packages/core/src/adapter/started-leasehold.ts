import { isLeaseholdError } from '../errors.ts';
import type { Leasehold } from '../leasehold.ts';

/** Starts and stops a Leasehold with its application. Who has started it stops it: one that ran before is left running. */
export class StartedLeasehold {
  readonly #leasehold: Pick<Leasehold, 'start' | 'stop'>;
  #startedHere = false;

  constructor(leasehold: Pick<Leasehold, 'start' | 'stop'>) {
    this.#leasehold = leasehold;
  }

  /** Whether it is to be stopped here: not before {@link start}, nor when somebody else has started it. */
  get isOurs(): boolean {
    return this.#startedHere;
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

  /**
   * Holds nothing from here on, and aborts the terms; resolves when the work under the roles has ended (or its time has) and
   * the roles are given back. Whoever does not await it is not told of a failure: that is nobody's unhandled rejection.
   */
  stop(): Promise<void> {
    const stopped = this.#startedHere ? this.#stop() : Promise.resolve();
    stopped.catch(() => {});
    return stopped;
  }

  async #stop(): Promise<void> {
    try {
      await this.#leasehold.stop();
    } catch (error) {
      // start() has just failed, and nobody has been told yet: there is nothing to stop.
      if (!isLeaseholdError(error, 'LEASEHOLD_NOT_STARTED')) throw error;
    }
  }
}
