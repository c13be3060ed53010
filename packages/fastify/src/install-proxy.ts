import { type Leasehold, LeaseholdError } from '@leasehold/core';
import type { RoleHolderProxy } from '@leasehold/proxy';
import { interceptEvents } from '@leasehold/proxy/adapter';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Lets a proxy decide before the application does, and ends what runs through it when the application closes. */
export function installProxy(app: FastifyInstance, proxy: RoleHolderProxy): void {
  let closing = false;
  const releaseEvents = interceptEvents(app.server, {
    upgrade: (request, socket, head) => proxy.handleUpgrade(request, socket, head),
    // While the application closes, Fastify answers before any hook, and without `Retry-After`.
    request: (request, response) => closing && proxy.apply(proxy.decide(request), { request, response }),
  });

  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const decision = proxy.decide(request.raw);
    if (decision.kind === 'pass') {
      proxy.apply(decision, { request: request.raw, response: reply.raw });
      done();
      return;
    }
    reply.hijack();
    proxy.apply(decision, { request: request.raw, response: reply.raw, headers: reply.getHeaders() });
  });

  app.addHook('preClose', async () => {
    proxy.close();
    closing = true;
    proxy.cutEndless();
  });
  app.addHook('onClose', async () => releaseEvents());
}

/**
 * The Leasehold that is given, or that of `roleLeasePlugin`.
 *
 * @param plugin the name that it is registered under.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when there is none.
 */
export function requireLeasehold<T>(app: FastifyInstance, given: T | undefined, plugin: string): T | Leasehold {
  const leasehold = given ?? (app.hasDecorator('leasehold') ? app.leasehold : undefined);
  if (leasehold !== undefined) return leasehold;
  throw new LeaseholdError(
    'LEASEHOLD_INVALID_OPTION',
    `leasehold is undefined and there is no app.leasehold; register roleLeasePlugin before ${plugin}, or give leasehold.`,
    { option: 'leasehold' },
  );
}
