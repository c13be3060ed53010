import { createServer, type Server } from 'node:http';
import { createLeasehold, type Leasehold, type RoleLease } from '@leasehold/core';
import { postgresStore } from '@leasehold/core/postgres';
import { type LeaseholdLifecycle, leaseholdLifecycle, requireRole, roleHolderProxy } from '@leasehold/express';
import { listenOn } from './listen.ts';
import type { Host } from './hosts.ts';

export interface ApplicationOptions {
  readonly connectionString: string;
  readonly schema: string;
  readonly label: string;
}

export interface Application {
  readonly origin: string;
  readonly server: Server;
  readonly leasehold: Leasehold;
  readonly lease: RoleLease;
  readonly lifecycle: LeaseholdLifecycle;
}

export const LEASE_MS = 3_000;

/** A whole application on PostgreSQL, that says on each answer and event who sent it. */
export async function startApplication(
  host: Host,
  { connectionString, schema, label }: ApplicationOptions,
): Promise<Application> {
  const leasehold = createLeasehold({
    store: postgresStore({ connectionString, schema }),
    instance: { label },
    leaseDuration: LEASE_MS,
  });
  const lease = leasehold.role('maintenance');
  const app = host.express();
  app.use(roleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/maintenance'] }));
  app.get('/maintenance/who', (_request, response) => void response.send(label));
  app.get('/guarded', requireRole(leasehold, 'maintenance'), (_request, response) => void response.send(label));
  app.get('/maintenance/events', (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write(`data: ${label}\n\n`), 20);
    request.on('close', () => clearInterval(timer));
  });
  const server = createServer(app);
  const lifecycle = leaseholdLifecycle(leasehold, server, { signals: ['SIGTERM'] });
  const origin = await listenOn(server);
  await lifecycle.ready;
  return { origin, server, leasehold, lease, lifecycle };
}
