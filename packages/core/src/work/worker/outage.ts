import type { Random } from '../../lease/pacing.ts';
import type { Logger } from '../../logger.ts';

const FIRST_PAUSE_MS = 100;

export interface OutageOptions {
  readonly logger: Logger;
  readonly table: string;
  readonly longestPauseMs: number;
  readonly random: Random;
}

/** Claims that fail in a row: told once, and tried again ever more slowly, for ever. */
export class Outage {
  readonly #options: OutageOptions;
  #failures = 0;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** True for the first of an outage. */
  failed(error: unknown): boolean {
    this.#failures += 1;
    if (this.#failures > 1) return false;
    const { logger, table } = this.#options;
    logger.warn({ err: error, table }, 'no rows can be claimed; trying again until they can');
    return true;
  }

  over(): void {
    if (this.#failures === 0) return;
    const { logger, table } = this.#options;
    logger.info({ table, failures: this.#failures }, 'rows can be claimed again');
    this.#failures = 0;
  }

  get pauseMs(): number {
    const { longestPauseMs, random } = this.#options;
    const longest = Math.min(longestPauseMs, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 1, 30));
    return longest * (0.5 + 0.5 * random());
  }
}
