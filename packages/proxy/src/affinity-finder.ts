import type { Logger } from '@leasehold/core';
import type { RefuseDecision } from './decision.ts';
import { notAKey, type ResolvedAffinity } from './partition-options.ts';
import { refuse } from './refusal.ts';
import type { HolderView, PartitionView } from './target.ts';

/** In UTF-16 code units: room for any identifier, and no work to be done for a client that sends a megabyte. */
const LONGEST_KEY = 4_096;

/** Tells the role of a partition that a request belongs to, by its key: the same for the proxy and for guards. */
export class AffinityFinder<Request> {
  readonly #partition: PartitionView;
  readonly #affinity: ResolvedAffinity<Request>;
  readonly #logger: Logger;
  #failing = false;

  /** @param logger guarded: it is called where nobody would catch what it throws. */
  constructor(partition: PartitionView, affinity: ResolvedAffinity<Request>, logger: Logger) {
    this.#partition = partition;
    this.#affinity = affinity;
    this.#logger = logger;
  }

  /** What is made of the role, or why there is none; what `make` throws is a failure of the application, too. */
  find<Made>(request: Request, make: (lease: HolderView) => Made): Made | RefuseDecision {
    try {
      const key = this.#affinity.affinityKey(request);
      if (key === undefined || key === null || key === '') return refuse('affinity-key-missing');
      if (Array.isArray(key)) return refuse('affinity-key-invalid');
      if (typeof key !== 'string') return this.#fail(notAKey(key));
      if (key.length > LONGEST_KEY) return refuse('affinity-key-invalid');
      return make(this.#leaseOf(key));
    } catch (error) {
      return this.#fail(error);
    }
  }

  #leaseOf(key: string): HolderView {
    const { scope } = this.#affinity;
    const lease = scope === undefined ? this.#partition.resolve(key) : this.#partition.resolve(scope, key);
    if (typeof lease.role !== 'string') throw new TypeError('The partition answered with something that is no role.');
    this.#failing = false;
    return lease;
  }

  /** A mistake of the application's, not of the client: said in the log, once until it works again. */
  #fail(error: unknown): RefuseDecision {
    if (!this.#failing) {
      const { partition } = this.#affinity;
      this.#logger.error({ partition, err: error }, 'the affinity key of a request could not be told');
    }
    this.#failing = true;
    return refuse('affinity-failed');
  }
}

/** What stands in for the role of a request that belongs to none. */
export function nobodyIn(partition: string): HolderView {
  return {
    role: partition,
    isHeld: false,
    currentHolder: null,
    currentHolderAddress: null,
    holderRemainingMs: 0,
    renewIntervalMs: 0,
  };
}
