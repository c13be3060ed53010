import { LeaseholdError, type LeaseholdErrorCode } from './errors.ts';
import type { ResolvedLeaseholdOptions } from './leasehold-options.ts';

/** Errors that trying again does not mend: somebody has to change something. */
const LASTING: ReadonlySet<LeaseholdErrorCode> = new Set([
  'LEASEHOLD_SCHEMA_MISSING',
  'LEASEHOLD_SCHEMA_OUTDATED',
  'LEASEHOLD_SCHEMA_NEWER',
  'LEASEHOLD_PERMISSION_DENIED',
  'LEASEHOLD_INVALID_OPTION',
  'LEASEHOLD_PARTITION_COUNT',
  'LEASEHOLD_STOPPED',
]);

/** What `start()` waits for: told of each attempt of the heartbeat, it knows when that is enough. */
export class StartupWait {
  /** Resolves with undefined when start() may, or with the error that it rejects with. */
  readonly settled: Promise<unknown>;
  readonly #options: ResolvedLeaseholdOptions;
  readonly #settle: (error: unknown) => void;
  #saidWaiting = false;

  constructor(options: ResolvedLeaseholdOptions) {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.settled = promise;
    this.#settle = resolve;
    this.#options = options;
    if (options.startup === 'background') resolve(undefined);
  }

  attempted(error: unknown): void {
    const lasting = error instanceof LeaseholdError && LASTING.has(error.code);
    if (error === undefined || lasting || this.#options.startup === 'fail') this.#settle(error);
    else this.#sayWaiting(error);
  }

  /** Once: a process that hangs at its start without a word is taken for one that works. */
  #sayWaiting(error: unknown): void {
    const { startup, store, warn } = this.#options;
    if (this.#saidWaiting || startup !== 'wait') return;
    this.#saidWaiting = true;
    warn(
      `start() waits for the ${store.name} store, which does not answer: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
