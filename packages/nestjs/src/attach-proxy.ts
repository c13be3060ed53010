import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { LeaseholdError } from '@leasehold/core';
import type { LocalFields, RoleHolderProxy } from '@leasehold/proxy';
import type { Lifecycle } from './lifecycle.ts';
import { ServerGate } from './server-gate.ts';

/** What of the adapter of a platform is needed here. */
export interface PlatformAdapter {
  getType(): string;
  getInstance(): unknown;
  getHttpServer(): unknown;
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
 * Puts a proxy before all else of the application, and closes it with the application.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when the server listens already.
 */
export function attachProxy(adapter: PlatformAdapter, lifecycle: Lifecycle, create: () => RoleHolderProxy): void {
  const server = adapter.getHttpServer() as Server;
  requireNotListening(server);
  const gate = new ServerGate(server, create());
  lifecycle.addClosing(gate);
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

function requireNotListening(server: Server): void {
  if (!server.listening) return;
  throw new LeaseholdError(
    'LEASEHOLD_INVALID_OPTION',
    'app listens already: requests may have run here that belong to the holder; install the proxy before app.listen().',
    { option: 'app' },
  );
}
