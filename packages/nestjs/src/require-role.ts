import type { ServerResponse } from 'node:http';
import type { Leasehold } from '@leasehold/core';
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

    #setFields(response: unknown, { 'Content-Type': type = '', ...fields }: Readonly<Record<string, string>>): void {
      const { httpAdapter } = this.#host;
      for (const [name, value] of Object.entries(fields)) httpAdapter.setHeader(response, name, value);
      if (httpAdapter.getType() === 'express') relabelJson(response as ServerResponse, type);
      else httpAdapter.setHeader(response, 'Content-Type', type);
    }
  }
  // As functions: Node runs this file as it stands, and strips types but not decorators.
  Inject(LEASEHOLD)(RoleGuard, undefined, 0);
  Inject(HttpAdapterHost)(RoleGuard, undefined, 1);
  return mixin(RoleGuard);
}

/**
 * Nest 11 on Express changes the type of every error that is not `application/json`, and warns at each. So what goes out as
 * JSON gets its own name at the last moment; what a filter of the application makes of it keeps the name that it gave.
 */
function relabelJson(response: ServerResponse, type: string): void {
  // oxlint-disable-next-line typescript/unbound-method -- called with the response as `this`, below
  const writeHead = response.writeHead as (...values: unknown[]) => ServerResponse;
  response.writeHead = function (this: ServerResponse, ...values: unknown[]): ServerResponse {
    if (String(this.getHeader('Content-Type')).startsWith('application/json')) this.setHeader('Content-Type', type);
    return writeHead.apply(this, values);
  };
}
