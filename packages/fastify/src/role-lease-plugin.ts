import { type Leasehold, LeaseholdError } from '@leasehold/core';
import { hasPartition } from '@leasehold/core/adapter';
import { resolveAdvertise, tellAddress } from '@leasehold/proxy/adapter';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import fp from 'fastify-plugin';
import { Lifecycle } from './lifecycle.ts';
import type { RolePartitions } from './partition-names.ts';
import { resolveLeasehold, type RoleLeasePluginOptions } from './role-lease-options.ts';
import type { RoleLeases } from './role-names.ts';
import { guardRoutes } from './route-guard.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** This instance's part in the agreement. */
    leasehold: Leasehold;
    /** Every configured role: `app.roleLeases.get('maintenance').isHeld`. */
    roleLeases: RoleLeases;
    /** Every partition: `app.rolePartitions.get('devices').isHeld('device-42')`. */
    rolePartitions: RolePartitions;
  }
}

/**
 * Makes the instances of an application agree who holds which role: `app.leasehold`, `app.roleLeases`, `app.rolePartitions`,
 * `app.requireRole`, `app.requirePartition`, and the option `config: { role }` of routes. Register it on the root: inside an encapsulated plugin it guards the routes of that alone.
 *
 * - It competes from `app.ready()` on, tells its address once the server listens, and logs to `app.log`.
 * - `app.close()` stops it first: nothing is held from then on and every term is aborted, and the roles are given back when
 *   the work that runs under them has ended. Only then, and when the others have heard, does the server close; requests
 *   that have nothing to do with a role are served until then.
 *
 * *Gotcha:* work under a role uses what else is registered (a database pool) safely: Fastify closes that after it. Work that
 * ends only when something else is closed ends too late; let it end when the signal of its term aborts.
 *
 * `app.ready()` rejects with what `createLeasehold`, `postgresStore`, `Leasehold.role` and `Leasehold.partition` throw at an
 * option, and with what `Leasehold.start` throws, as its `startup` says; with LEASEHOLD_UNKNOWN_ROLE when a route names a role that is not registered.
 *
 * @throws {LeaseholdError} LEASEHOLD_ALREADY_REGISTERED from `app.ready()` when `app.leasehold` exists.
 */
export const roleLeasePlugin: FastifyPluginAsync<RoleLeasePluginOptions> = fp(registerRoleLeases, {
  name: '@leasehold/fastify',
  fastify: '5.x',
});

async function registerRoleLeases(app: FastifyInstance, options: RoleLeasePluginOptions): Promise<void> {
  requireUnregistered(app);
  const advertise = resolveAdvertise(options.advertise);
  const leasehold = await resolveLeasehold(options, app.log);
  const lifecycle = new Lifecycle({ leasehold, hookTimeoutMs: app.initialConfig.pluginTimeout ?? 0 });
  app.decorate('leasehold', leasehold);
  app.decorate('roleLeases', leasehold.leases);
  app.decorate('rolePartitions', partitionsOf(leasehold));
  guardRoutes(app, leasehold);
  app.addHook('onReady', () => {
    handOverBeforeClosing(app, lifecycle);
    return lifecycle.start();
  });
  app.addHook('onListen', async () => tellAddress(leasehold, advertise, { server: app.server, logger: app.log }));
  // For a close() that comes before ready(): nothing listens, and nothing was held.
  app.addHook('preClose', async () => lifecycle.beginStop());
  app.addHook('onClose', () => lifecycle.stopped());
}

function partitionsOf(leasehold: Leasehold): RolePartitions {
  return { has: (name) => hasPartition(leasehold, name), get: (name) => leasehold.getPartition(name) };
}

/**
 * The others go on forwarding to this instance until they hear that it holds no more, so it has to be there to answer. Not in
 * `preClose`: by then Fastify refuses every request, those that have nothing to do with a role too, and its limit for a hook
 * may be shorter than work takes to drain. The hook that was added last is the first to run, before Fastify's own, which
 * closes the server.
 */
function handOverBeforeClosing(app: FastifyInstance, lifecycle: Lifecycle): void {
  app.addHook('onClose', () => lifecycle.handOver(app.server));
}

function requireUnregistered(app: FastifyInstance): void {
  if (!app.hasDecorator('leasehold') && !app.hasDecorator('roleLeases')) return;
  throw new LeaseholdError(
    'LEASEHOLD_ALREADY_REGISTERED',
    'app.leasehold exists already: register roleLeasePlugin once, on the root of the application, and name all roles and partitions there, or add them with app.leasehold.role() and app.leasehold.partition().',
  );
}
