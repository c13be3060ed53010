import { type Leasehold, LeaseholdError } from '@leasehold/core';
import { createRoleHolderProxy, type RoleHolderProxyOptions } from '@leasehold/proxy';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { EventStreams } from './event-streams.ts';
import type { RoleName } from './role-names.ts';
import { ServerEvents } from './server-events.ts';

export interface RoleHolderProxyPluginOptions extends RoleHolderProxyOptions {
  readonly role: RoleName;
  /** @default that of `roleLeasePlugin`: `app.leasehold` */
  readonly leasehold?: Leasehold;
}

/**
 * Sends what is under the prefixes to the instance that holds the role, unless that is this one: before parsing,
 * validation, authentication and handlers, for unknown routes too. It may be registered once for each role.
 *
 * - Register it before whatever adds `onRequest` hooks, since those run in the order of registration. Header fields that
 *   earlier hooks set (CORS) are on the answer; where the holder sets the same, the holder's win.
 * - The prefixes are compared with the path as the client sent it, whatever `rewriteUrl` and the prefix of an encapsulating
 *   plugin say.
 * - When the application closes, event streams that run through it are cut, so that their clients come back elsewhere.
 *
 * *Gotcha:* inside an encapsulated plugin it sees the requests to the routes of that plugin alone. Register it on the root.
 *
 * `app.ready()` rejects with what `createRoleHolderProxy` of `@leasehold/proxy` throws at an option.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION from `app.ready()` when there is no Leasehold.
 */
export const roleHolderProxy: FastifyPluginAsync<RoleHolderProxyPluginOptions> = fp(registerRoleHolderProxy, {
  name: '@leasehold/fastify/role-holder-proxy',
  fastify: '5.x',
});

async function registerRoleHolderProxy(app: FastifyInstance, options: RoleHolderProxyPluginOptions): Promise<void> {
  const leasehold = requireLeasehold(app, options);
  const proxy = createRoleHolderProxy(leasehold, { logger: app.log, ...options });
  const eventStreams = new EventStreams();
  const serverEvents = new ServerEvents(app.server, proxy);

  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const decision = proxy.decide(request.raw);
    if (decision.kind === 'pass') {
      proxy.apply(decision, { request: request.raw, response: reply.raw });
      done();
      return;
    }
    reply.hijack();
    eventStreams.add(request.raw, reply.raw);
    proxy.apply(decision, { request: request.raw, response: reply.raw, headers: reply.getHeaders() });
  });

  app.addHook('preClose', async () => {
    proxy.close();
    serverEvents.beginClose();
    eventStreams.cut();
  });
  app.addHook('onClose', async () => serverEvents.release());
}

function requireLeasehold(app: FastifyInstance, options: RoleHolderProxyPluginOptions): Leasehold {
  const leasehold = options.leasehold ?? (app.hasDecorator('leasehold') ? app.leasehold : undefined);
  if (leasehold !== undefined) return leasehold;
  throw new LeaseholdError(
    'LEASEHOLD_INVALID_OPTION',
    'leasehold is undefined and there is no app.leasehold; register roleLeasePlugin before roleHolderProxy, or give leasehold.',
    { option: 'leasehold' },
  );
}
