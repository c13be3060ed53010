import { fileURLToPath } from 'node:url';
import { createLeasehold, type Leasehold } from '@leasehold/core';
import { postgresStore } from '@leasehold/core/postgres';
import { requireRole, roleHolderProxy } from '@leasehold/express';
import express, { type Express } from 'express';
import type pg from 'pg';
import { eventStream } from './event-stream.ts';
import { Maintenance } from './maintenance.ts';

const PUBLIC = fileURLToPath(new URL('../public', import.meta.url));

export interface App {
  readonly app: Express;
  readonly leasehold: Leasehold;
}

/** One copy of the application. Start as many as you like: at any moment one of them holds `maintenance`. */
export function buildApp(pool: pg.Pool, label: string): App {
  const leasehold = createLeasehold({ store: postgresStore({ pool }), leaseDuration: '3s' });
  const lease = leasehold.role('maintenance');
  const maintenance = new Maintenance(pool, label);
  // On the holder alone, from the moment that it holds.
  lease.every('1s', (term) => maintenance.run(term, 'by the clock'));

  const app = express();
  // Every copy takes these requests, and the holder answers them. Before body parsers: a body that was read is not forwarded.
  app.use(roleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/maintenance'], onRoleChange: 'close' }));
  app.use(express.static(PUBLIC));
  app.use(express.json());

  app.get('/who', (_request, response) => void response.json({ label }));
  app.get('/maintenance/events', (_request, response) => eventStream({ lease, label, maintenance }, response));
  app.post('/maintenance/runs', async (request, response) => {
    const outcome = await lease.whileHeld((term) => maintenance.run(term, noteOf(request.body)));
    // The role left between the proxy's look and this one.
    if (outcome.ran) response.status(201).json(outcome.value);
    else response.status(503).set('Retry-After', '1').json({ holder: outcome.currentHolder });
  });
  // Not forwarded: for an operator who asks one copy in particular.
  app.get(
    '/internal/last-run',
    requireRole(leasehold, 'maintenance'),
    (_request, response) => void response.json(maintenance.last),
  );
  return { app, leasehold };
}

function noteOf(body: unknown): string {
  const note = typeof body === 'object' && body !== null && 'note' in body ? body.note : undefined;
  return typeof note === 'string' ? note : 'by hand';
}
