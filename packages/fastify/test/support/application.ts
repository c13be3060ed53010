import { roleHolderProxy, roleLeasePlugin } from '@leasehold/fastify';
import Fastify, { type FastifyInstance } from 'fastify';

export interface ApplicationOptions {
  readonly connectionString: string;
  readonly schema: string;
  readonly label: string;
}

export const LEASE_MS = 3_000;

/** A whole application on PostgreSQL, that says on each answer and event who sent it. */
export function buildApplication({ connectionString, schema, label }: ApplicationOptions): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true });
  app.register(roleLeasePlugin, {
    connectionString,
    schema,
    instance: { label },
    leaseDuration: LEASE_MS,
    roles: ['maintenance'],
  });
  app.register(roleHolderProxy, { role: 'maintenance', prefixes: ['/maintenance'] });
  app.get('/who', async () => label);
  app.get('/maintenance/who', async () => label);
  app.get('/maintenance/events', (request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => reply.raw.write(`data: ${label}\n\n`), 20);
    request.raw.on('close', () => clearInterval(timer));
  });
  return app;
}
