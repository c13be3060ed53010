import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { LeaseholdError } from '@leasehold/core';
import { createRoleHolderProxy, type LocalFields, type RoleHolderProxyOptions } from '@leasehold/proxy';
import type { INestApplication } from '@nestjs/common';
import { Lifecycle } from './lifecycle.ts';
import type { RoleName } from './role-names.ts';
import { ServerGate } from './server-gate.ts';

export interface InstallRoleHolderProxyOptions extends RoleHolderProxyOptions {
  readonly role: RoleName;
}

/** What of Fastify is needed here, which may not be installed. */
interface FastifyLike {
  addHook(name: 'onRequest', hook: (request: FastifyRequestLike, reply: FastifyReplyLike, done: () => void) => void): unknown;
}

interface FastifyRequestLike {
  readonly raw: IncomingMessage;
}

interface FastifyReplyLike {
  readonly raw: ServerResponse;
  hijack(): unknown;
  getHeaders(): LocalFields;
}

/**
 * Sends what is under the prefixes to the instance that holds the role, unless that is this one: before body parsers,
 * middleware, guards and handlers, on both platforms and wherever it stands before `app.listen()`. May be called once for
 * each role.
 *
 * - The prefixes are compared with the path as the client sent it: a global prefix is part of it.
 * - Nothing of the application runs before it, CORS neither: the holder's fields are on the answer.
 * - When the application closes, event streams that run through it are cut, so that their clients come back elsewhere.
 *
 * @throws {LeaseholdError} LEASEHOLD_NOT_REGISTERED when there is no `LeaseholdModule`.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when the server listens already.
 * @throws {LeaseholdError} what `createRoleHolderProxy` of `@leasehold/proxy` throws at an option.
 */
export function installRoleHolderProxy(app: INestApplication, options: InstallRoleHolderProxyOptions): void {
  const lifecycle = findLifecycle(app);
  const server = app.getHttpServer() as Server;
  requireNotListening(server);
  const proxy = createRoleHolderProxy(lifecycle.leasehold, { logger: lifecycle.logger, ...options });
  const gate = new ServerGate(server, proxy);
  lifecycle.addClosing(gate);
  const adapter = app.getHttpAdapter();
  if (adapter.getType() === 'fastify') addHook(adapter.getInstance() as FastifyLike, gate);
}

/**
 * For what does not come through the server: `app.inject()`, and the further servers that Fastify opens when it listens on
 * `localhost`, where that has two addresses.
 */
function addHook(fastify: FastifyLike, gate: ServerGate): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (gate.takesRequest(request.raw, reply.raw, reply.getHeaders())) reply.hijack();
    else done();
  });
}

function findLifecycle(app: INestApplication): Lifecycle {
  try {
    return app.get(Lifecycle, { strict: false });
  } catch (cause) {
    throw new LeaseholdError(
      'LEASEHOLD_NOT_REGISTERED',
      'app has no Leasehold; import LeaseholdModule.forRoot(…) in its root module.',
      { option: 'app', cause },
    );
  }
}

function requireNotListening(server: Server): void {
  if (!server.listening) return;
  throw new LeaseholdError(
    'LEASEHOLD_INVALID_OPTION',
    'app listens already: requests may have run here that belong to the holder; call installRoleHolderProxy before app.listen().',
    { option: 'app' },
  );
}
