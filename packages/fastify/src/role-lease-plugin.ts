import { type Leasehold, LeaseholdError } from '@leasehold/core';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import fp from 'fastify-plugin';
import { resolveAdvertise, tellAddress } from './advertise.ts';
import { Lifecycle } from './lifecycle.ts';
import { resolveLeasehold, type RoleLeasePluginOptions } from './role-lease-options.ts';
import type { RoleLeases } from './role-names.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** This instance's part in the agreement. */
    leasehold: Leasehold;
    /** Every configured role: `app.roleLeases.get('maintenance').isHeld`. */
    roleLeases: RoleLeases;
  }
}

/**
 * Makes the instances of an application agree who holds which role: `app.leasehold` and `app.roleLeases`.
 *
 * - It competes from `app.ready()` on, tells its address once the server listens, and logs to `app.log`.
 * - `app.close()` stops it first: nothing is held and every term is aborted before the server closes; the roles are given
 *   back when the work that runs under them has ended, and requests in flight may end meanwhile.
 *
 * *Gotcha:* work under a role uses what was registered before this plugin (a database pool) safely: Fastify closes that
 * after it.
 *
 * `app.ready()` rejects with what `createLeasehold`, `postgresStore` and `Leasehold.role` throw at an option, and with what
 * `Leasehold.start` throws, as its `startup` says.
 *
 * @throws {LeaseholdError} LEASEHOLD_ALREADY_REGISTERED from `app.ready()` when `app.leasehold` exists.
 */
export const roleLeasePlugin: FastifyPluginAsync<RoleLeasePluginOptions> = fp(registerRoleLeases, {
  name: '@leasehold/fastify',
  fastify: '5.x',
});

async function registerRoleLeases(app: FastifyInstance, options: RoleLeasePluginOptions): Promise<void> {
  requireUnregistered(app);
  const address = resolveAdvertise(options);
  const leasehold = await resolveLeasehold(options, app.log);
  const lifecycle = new Lifecycle({ leasehold, hookTimeoutMs: app.initialConfig.pluginTimeout ?? 0 });
  app.decorate('leasehold', leasehold);
  app.decorate('roleLeases', leasehold.leases);
  app.addHook('onReady', () => lifecycle.start());
  if (address !== null) app.addHook('onListen', async () => tellAddress(leasehold, address, app));
  // Not awaited: the server must not go on accepting connections while work drains.
  app.addHook('preClose', async () => lifecycle.beginStop());
  app.addHook('onClose', () => lifecycle.stopped());
}

function requireUnregistered(app: FastifyInstance): void {
  if (!app.hasDecorator('leasehold') && !app.hasDecorator('roleLeases')) return;
  throw new LeaseholdError(
    'LEASEHOLD_ALREADY_REGISTERED',
    'app.leasehold exists already: register roleLeasePlugin once, on the root of the application, and name all roles there or add them with app.leasehold.role().',
  );
}
