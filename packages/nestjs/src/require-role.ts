import { type Leasehold } from '@leasehold/core';
import { notHeldProblem } from '@leasehold/proxy';
import { type CanActivate, type ExecutionContext, HttpException, Inject, mixin, type Type, UseGuards } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { RoleName } from './role-names.ts';
import { LEASEHOLD } from './tokens.ts';

/** Answers 503 with the body that the role-holder proxy answers with. */
export class RoleNotHeldException extends HttpException {
  readonly role: string;

  constructor(role: string, problem: { readonly status: number; readonly body: object }) {
    super(problem.body, problem.status);
    this.role = role;
  }
}

/**
 * A guard for a controller or a handler: answers 503 with `Retry-After` where the role is not held.
 *
 * *Gotcha:* it looks once. The role can be lost while the handler runs: what must not happen then belongs behind `whileHeld`
 * or a fence. To have the holder answer instead, see `installRoleHolderProxy`.
 *
 * A request fails with LEASEHOLD_UNKNOWN_ROLE, and thus with 500, when the role is not registered.
 */
export function RequireRole(role: RoleName): ClassDecorator & MethodDecorator {
  return UseGuards(roleGuard(role));
}

/** A class for each role, so that a controller and its handler may each require one. */
function roleGuard(role: string): Type<CanActivate> {
  class RoleGuard implements CanActivate {
    readonly #leasehold: Leasehold;
    readonly #host: HttpAdapterHost;

    constructor(leasehold: Leasehold, host: HttpAdapterHost) {
      this.#leasehold = leasehold;
      this.#host = host;
    }

    canActivate(context: ExecutionContext): true {
      const lease = this.#leasehold.get(role);
      if (lease.isHeld) return true;
      const problem = notHeldProblem(lease);
      if (context.getType() === 'http') this.#setFields(context.switchToHttp().getResponse(), problem.headers);
      throw new RoleNotHeldException(role, problem);
    }

    #setFields(response: unknown, fields: Readonly<Record<string, string>>): void {
      for (const [name, value] of Object.entries(fields)) this.#host.httpAdapter.setHeader(response, name, value);
    }
  }
  // As functions: Node runs this file as it stands, and strips types but not decorators.
  Inject(LEASEHOLD)(RoleGuard, undefined, 0);
  Inject(HttpAdapterHost)(RoleGuard, undefined, 1);
  return mixin(RoleGuard);
}
