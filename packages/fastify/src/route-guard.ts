import { isLeaseholdError, type Leasehold, LeaseholdError, showValue } from '@leasehold/core';
import { requireKnown } from '@leasehold/core/adapter';
import type { AffinityKey } from '@leasehold/proxy';
import { type Guard, HolderGuard, PartitionGuard } from '@leasehold/proxy/adapter';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import type { PartitionName } from './partition-names.ts';
import type { RoleName } from './role-names.ts';

/** What a key is told by, unless the application says otherwise. */
type UsualRequest = FastifyRequest;

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * A hook for routes that may run on the holder alone and are not forwarded, as `onRequest` or `preHandler`: elsewhere it
     * answers 503 with `Retry-After` and the problem body of the proxy (`reason: 'not-held'`). For a whole route, its option
     * `config: { role }` does the same.
     *
     * *Gotcha:* it asks once, before the handler. What runs longer asks again, or runs under `whileHeld`; what must not happen
     * twice is fenced.
     *
     * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE at once: a guard of a misspelt role would let everything through, or nothing.
     */
    requireRole(role: RoleName): RoleGuardHook;
    /**
     * The partition form of `requireRole`: lets a request through where the role of its affinity key is held, and answers 503
     * elsewhere. A request without a key is answered with 400, as by `partitionHolderProxy`.
     *
     * ```ts
     * const ofDevice = app.requirePartition('devices', (request) => request.headers['x-device-id']);
     * app.get('/state', { preHandler: ofDevice }, handler);
     * ```
     *
     * @param affinityKey tells what of a request says where it belongs, without waiting for anything. Its body is there from
     * `preValidation` on.
     * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE, LEASEHOLD_INVALID_OPTION at once.
     */
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- an application has requests of its own type
    requirePartition<Request = UsualRequest>(
      partition: PartitionName,
      affinityKey: (request: Request) => AffinityKey,
      options?: {
        /** Keeps keys of different kinds apart. @default keys have no scope */
        readonly scope?: string;
      },
    ): RoleGuardHook;
  }

  interface FastifyContextConfig {
    /**
     * The route runs on the holder of this role alone; elsewhere it is answered with 503, before its body is parsed.
     *
     * @default it runs everywhere
     */
    role?: RoleName;
  }
}

/** What of a reply a guard needs, whatever the server. */
interface GuardedReply {
  code(status: number): GuardedReply;
  headers(fields: Readonly<Record<string, string>>): GuardedReply;
  send(body: Buffer): unknown;
}

interface GuardedRequest {
  readonly method: string;
}

/** A hook of `onRequest`, `preValidation` and `preHandler`. */
export type RoleGuardHook = (request: GuardedRequest, reply: GuardedReply, done: () => void) => void;

/**
 * `app.requireRole`, `app.requirePartition`, and the option of routes.
 *
 * The option is looked at in `preParsing`: a hook of the root covers all routes, those that were there before it too, and comes
 * after every `onRequest` hook, wherever that was added. So a proxy has forwarded before, a refusal carries the fields of
 * CORS, and `@fastify/websocket` knows that a connection is its own to close.
 */
export function guardRoutes(app: FastifyInstance, leasehold: Leasehold): void {
  const routes: RouteOptions[] = [];
  const guards = new Map<string, RoleGuardHook>();
  const guardOf = (role: string, route: Route): RoleGuardHook => {
    let guard = guards.get(role);
    if (guard === undefined) guards.set(role, (guard = guardOfRoute(leasehold, role, route)));
    return guard;
  };
  app.decorate('requireRole', (role: string) => createGuard(leasehold, role));
  app.decorate('requirePartition', (partition, affinityKey, options = {}) => {
    requireKnown('requirePartition()', options, ['scope']);
    return hookOf(new PartitionGuard(leasehold, { partition, affinityKey, scope: options.scope, logger: app.log }));
  });
  app.addHook('onRoute', (route) => void routes.push(route));
  app.addHook('onReady', async () => {
    for (const { config, method, url } of routes) {
      if (config?.role !== undefined) guardOf(config.role, { method, url });
    }
    routes.length = 0;
  });
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { config, method, url } = request.routeOptions;
    if (config.role === undefined) {
      done();
      return;
    }
    try {
      // Of a route that was there before this plugin nothing is known until it is asked for.
      guardOf(config.role, { method, url })(request, reply, done);
    } catch (error) {
      done(error as Error);
    }
  });
}

function createGuard(leasehold: Leasehold, role: string): RoleGuardHook {
  return hookOf(new HolderGuard(leasehold, role));
}

function hookOf<Request>(guard: Guard<Request>): RoleGuardHook {
  return (request, reply, done) => {
    const refusal = guard.check(request as Request);
    if (refusal === null) {
      done();
      return;
    }
    const { status, headers, body } = refusal.tell(request.method);
    // As bytes: Fastify adds a charset to the type of a text.
    reply
      .code(status)
      .headers(headers)
      .send(Buffer.from(JSON.stringify(body)));
  };
}

interface Route {
  readonly method: string | readonly string[] | undefined;
  readonly url: string | undefined;
}

function guardOfRoute(leasehold: Leasehold, role: string, { method = [], url = '' }: Route): RoleGuardHook {
  try {
    return createGuard(leasehold, role);
  } catch (cause) {
    if (!isLeaseholdError(cause, 'LEASEHOLD_UNKNOWN_ROLE')) throw cause;
    throw new LeaseholdError(
      'LEASEHOLD_UNKNOWN_ROLE',
      `config.role of the route ${[method].flat().join(', ')} ${url} is ${showValue(role)}, which is not registered; name it in roles of roleLeasePlugin, or call app.leasehold.role() before app.ready().`,
      { role, option: 'config.role', cause },
    );
  }
}
