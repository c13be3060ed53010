import type { ServerResponse } from 'node:http';
import { answerProblem, publishRejection } from '../answer.ts';
import { type AnyResponse, http2Stream } from '../http2.ts';
import { requireLeasehold } from '../options.ts';
import { notHeldContext, notHeldProblem, type NotHeldProblem } from '../not-held.ts';
import type { ProblemContext, Refusal } from '../problem.ts';
import type { ProxyLeasehold } from '../target.ts';

const NOT_HELD: Refusal = { reason: 'not-held' };

/** Asks whether a role is held here, and has the answer where it is not: the same on every framework. */
export class HolderGuard {
  readonly #context: ProblemContext;

  /**
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE: a guard of a misspelt role would let everything through, or nothing.
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when the Leasehold was forgotten.
   */
  constructor(leasehold: ProxyLeasehold, role: string) {
    requireLeasehold(leasehold);
    this.#context = notHeldContext(leasehold, leasehold.get(role));
  }

  get isHeld(): boolean {
    return this.#context.lease.isHeld;
  }

  /** Answers, over `node:http`; not when the client is gone, or somebody has answered. */
  answer(given: AnyResponse): void {
    const response = given as ServerResponse;
    if ((http2Stream(response) ?? response).destroyed || response.writableEnded) return;
    answerProblem(NOT_HELD, this.#context, { response, local: {} });
  }

  /** The answer, for frameworks that write it themselves. Observers are told of it. */
  refuse(method: string | undefined): NotHeldProblem {
    publishRejection(NOT_HELD, this.#context, method);
    return notHeldProblem(this.#context.lease);
  }
}
