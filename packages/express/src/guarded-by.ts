import type { ConnectHandler } from '@leasehold/proxy';
import type { Guard } from '@leasehold/proxy/adapter';

/** A guard as middleware. */
export function guardedBy<Request>(guard: Guard<Request>): ConnectHandler {
  return (request, response, next) => {
    const refusal = guard.check(request as Request);
    if (refusal === null) next();
    else refusal.answer(response);
  };
}
