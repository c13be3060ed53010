import type { ServerResponse } from 'node:http';
import { answerProblem, publishRejection } from '../answer.ts';
import { guardProblem, type GuardProblem } from '../guard-problem.ts';
import { type AnyResponse, http2Stream } from '../http2.ts';
import type { ProblemContext } from '../problem.ts';
import type { RefusalReason } from '../refusal.ts';

/** Says of each request whether this instance may run it: the same on every framework. */
export interface Guard<Request> {
  /** Null where it may. */
  check(request: Request): GuardRefusal | null;
}

/** What is answered in place of a route. */
export class GuardRefusal {
  readonly #reason: RefusalReason;
  readonly #context: ProblemContext;

  constructor(reason: RefusalReason, context: ProblemContext) {
    this.#reason = reason;
    this.#context = context;
  }

  /** The role that it is about; where none could be told, the partition. */
  get role(): string {
    return this.#context.lease.role;
  }

  /** Whether the role is held elsewhere, or by nobody; otherwise no role could be told. */
  get isNotHeld(): boolean {
    return this.#reason === 'not-held';
  }

  /** Answers, over `node:http`; not when the client is gone, or somebody has answered. */
  answer(given: AnyResponse): void {
    const response = given as ServerResponse;
    if ((http2Stream(response) ?? response).destroyed || response.writableEnded) return;
    answerProblem({ reason: this.#reason }, this.#context, { response, local: {} });
  }

  /** The answer, for frameworks that write it themselves. Observers are told of it. */
  tell(method: string | undefined): GuardProblem {
    publishRejection({ reason: this.#reason }, this.#context, method);
    return guardProblem(this.#reason, this.#context);
  }
}
