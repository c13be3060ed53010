import { type Logger, silentLogger } from '@leasehold/core';
import { guardLogger } from '@leasehold/core/adapter';
import { AffinityFinder, nobodyIn } from '../affinity-finder.ts';
import { sayForgottenStart } from '../forgotten-start.ts';
import { guardContext } from '../guard-problem.ts';
import { type AffinityKey, requireAffinity, requirePartitions } from '../partition-options.ts';
import type { HolderView, PartitionLeasehold } from '../target.ts';
import { type Guard, GuardRefusal } from './guard.ts';

export interface PartitionGuardOptions<Request> {
  readonly partition: string;
  /** Tells what of a request says where it belongs, without waiting for anything. Nothing, or `''`, is a key that is missing. */
  readonly affinityKey: (request: Request) => AffinityKey;
  /** @default keys have no scope */
  readonly scope?: string | undefined;
  /** For the mistakes of `affinityKey`, and a forgotten `start()`. @default nothing is logged */
  readonly logger?: Logger | undefined;
}

/** Lets requests run where the role of their key is held, and refuses those without a key as the proxy does. */
export class PartitionGuard<Request> implements Guard<Request> {
  readonly #leasehold: PartitionLeasehold;
  readonly #finder: AffinityFinder<Request>;
  readonly #nobody: HolderView;
  readonly #log: { readonly logger: Logger; readonly hasLogger: boolean };

  /**
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE: a guard of a misspelt partition would let everything through, or nothing.
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION for an option, or when the Leasehold was forgotten.
   */
  constructor(leasehold: PartitionLeasehold, options: PartitionGuardOptions<Request>) {
    requirePartitions(leasehold);
    const { partition, scope, affinityKey, logger } = options;
    const affinity = requireAffinity<Request>({ partition, scope, affinityKey });
    this.#leasehold = leasehold;
    this.#log = { logger: guardLogger(logger ?? silentLogger), hasLogger: logger !== undefined };
    this.#finder = new AffinityFinder(leasehold.getPartition(partition), affinity, this.#log.logger);
    this.#nobody = nobodyIn(partition);
  }

  check(request: Request): GuardRefusal | null {
    const found = this.#finder.find(request, this.#examine);
    if (found === null || found instanceof GuardRefusal) return found;
    return new GuardRefusal(found.reason, guardContext(this.#leasehold, this.#nobody));
  }

  readonly #examine = (lease: HolderView): GuardRefusal | null => {
    if (lease.isHeld) return null;
    sayForgottenStart(this.#leasehold, this.#log);
    return new GuardRefusal('not-held', guardContext(this.#leasehold, lease));
  };
}
