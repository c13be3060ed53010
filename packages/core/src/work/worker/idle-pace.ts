import type { Random } from '../../lease/pacing.ts';

const JITTER = 0.25;
/** Many instances wait for the same row: they should not ask in the same millisecond. */
const DUE_JITTER_MS = 50;

export interface IdlePaceOptions {
  readonly minMs: number;
  readonly maxMs: number;
  readonly random: Random;
}

/** How long to pause when nothing is due: doubling, up to a quarter less by chance, so that a fleet does not ask in step. */
export class IdlePace {
  readonly #options: IdlePaceOptions;
  #pauses = 0;

  constructor(options: IdlePaceOptions) {
    this.#options = options;
  }

  reset(): void {
    this.#pauses = 0;
  }

  next(): number {
    const { minMs, maxMs, random } = this.#options;
    const longest = Math.min(maxMs, minMs * 2 ** Math.min(this.#pauses, 40));
    this.#pauses += 1;
    return longest * (1 - JITTER * random());
  }

  /** From now until just after a row is due. */
  untilDue(dueMs: number): number {
    return dueMs + DUE_JITTER_MS * this.#options.random();
  }
}
