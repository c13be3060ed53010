import type { Leasehold } from '@leasehold/core';
import { createRoleHolderProxy, type RoleHolderProxyOptions } from '@leasehold/proxy';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import fp from 'fastify-plugin';
import { installProxy, requireLeasehold } from './install-proxy.ts';
import { withoutRegister } from './register-options.ts';
import type { RoleName } from './role-names.ts';

export interface RoleHolderProxyPluginOptions extends RoleHolderProxyOptions {
  readonly role: RoleName;
  /** @default that of `roleLeasePlugin`: `app.leasehold` */
  readonly leasehold?: Leasehold;
}

/**
 * Sends what is under the prefixes to the instance that holds the role, unless that is this one: before parsing,
 * validation, authentication and handlers, for unknown routes too. It may be registered once for each role.
 *
 * - Register it before whatever adds `onRequest` hooks, since those run in the order of registration; but after CORS. Header
 *   fields that earlier hooks set are on the answer, a refusal too; where the holder sets the same, the holder's win.
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
  const { leasehold: given, ...others } = withoutRegister(options);
  const leasehold = requireLeasehold(app, given, 'roleHolderProxy');
  installProxy(app, createRoleHolderProxy(leasehold, { logger: app.log, ...others }));
}
