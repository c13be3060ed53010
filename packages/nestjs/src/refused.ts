import { HttpException } from '@nestjs/common';

interface Problem {
  readonly status: number;
  readonly body: object;
}

/** Answers 503 with the body that the role-holder proxy answers with. */
export class RoleNotHeldException extends HttpException {
  readonly role: string;

  constructor(role: string, problem: Problem) {
    super(problem.body, problem.status);
    this.role = role;
  }
}

/**
 * Answers 400 where a request has no affinity key or one that cannot be, or 500 where the application could not tell it, with the
 * body that the proxy answers with.
 */
export class AffinityKeyException extends HttpException {
  readonly partition: string;

  constructor(partition: string, problem: Problem) {
    super(problem.body, problem.status);
    this.partition = partition;
  }
}
