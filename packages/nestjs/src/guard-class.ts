import type { ServerResponse } from 'node:http';
import type { Guard } from '@leasehold/proxy/adapter';
import { type CanActivate, type ExecutionContext, Inject, mixin, type Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Lifecycle } from './lifecycle.ts';
import { AffinityKeyException, RoleNotHeldException } from './refused.ts';

/** A class for each use, so that a controller and its handler may each have one. */
export function guardClass(create: (lifecycle: Lifecycle) => Guard<ExecutionContext>): Type<CanActivate> {
  class LeaseholdGuard implements CanActivate {
    readonly #lifecycle: Lifecycle;
    readonly #host: HttpAdapterHost;
    #guard: Guard<ExecutionContext> | null = null;

    constructor(lifecycle: Lifecycle, host: HttpAdapterHost) {
      this.#lifecycle = lifecycle;
      this.#host = host;
    }

    canActivate(context: ExecutionContext): true {
      // Not before: what it names may be registered after it was made.
      this.#guard ??= create(this.#lifecycle);
      const refusal = this.#guard.check(context);
      if (refusal === null) return true;
      const isHttp = context.getType() === 'http';
      const problem = refusal.tell(isHttp ? context.switchToHttp().getRequest<{ method?: string }>().method : undefined);
      if (isHttp) this.#setFields(context.switchToHttp().getResponse(), problem.headers);
      const Refused = refusal.isNotHeld ? RoleNotHeldException : AffinityKeyException;
      throw new Refused(refusal.role, problem);
    }

    #setFields(response: unknown, { 'Content-Type': type = '', ...fields }: Readonly<Record<string, string>>): void {
      const { httpAdapter } = this.#host;
      for (const [name, value] of Object.entries(fields)) httpAdapter.setHeader(response, name, value);
      if (httpAdapter.getType() === 'express') relabelJson(response as ServerResponse, type);
      else httpAdapter.setHeader(response, 'Content-Type', type);
    }
  }
  // As functions: Node runs this file as it stands, and strips types but not decorators.
  Inject(Lifecycle)(LeaseholdGuard, undefined, 0);
  Inject(HttpAdapterHost)(LeaseholdGuard, undefined, 1);
  return mixin(LeaseholdGuard);
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
