import { readFile } from 'node:fs/promises';
import { roleHolderProxy, roleLeasePlugin } from '@leasehold/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';
import { eventStream } from './event-stream.ts';
import { Maintenance } from './maintenance.ts';

const PAGE = new URL('../public/index.html', import.meta.url);

/** One copy of the application. Start as many as you like: at any moment one of them holds `maintenance`. */
export async function buildApp(connectionString: string | undefined, label: string): Promise<FastifyInstance> {
  const app = Fastify({ logger: { level: 'warn' } });

  // Registered before the leases, so closed after them: when the last run of the job has ended.
  const pool = new pg.Pool({ connectionString, max: 5 });
  pool.on('error', (error) => app.log.warn({ err: error }, 'an idle connection to PostgreSQL broke'));
  app.addHook('onClose', async () => {
    await pool.end();
    console.log(`${label} has ended`);
  });

  await app.register(roleLeasePlugin, { pool, roles: ['maintenance'], leaseDuration: '3s' });
  // Every copy takes these requests, and the holder answers them.
  await app.register(roleHolderProxy, { role: 'maintenance', prefixes: ['/maintenance'], onRoleChange: 'close' });

  const lease = app.roleLeases.get('maintenance');
  const maintenance = new Maintenance(pool, label);
  // On the holder alone, from the moment that it holds.
  app.addHook('onReady', async () => void lease.every('1s', (term) => maintenance.run(term, 'by the clock')));

  const page = await readFile(PAGE);
  app.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(page));
  app.get('/who', async () => ({ label }));
  app.get('/maintenance/events', (_request, reply) =>
    reply.type('text/event-stream').header('cache-control', 'no-cache').send(eventStream({ lease, label, maintenance })),
  );
  app.post<{ Body: { note?: string } | null }>('/maintenance/runs', async (request, reply) => {
    const outcome = await lease.whileHeld((term) => maintenance.run(term, request.body?.note ?? 'by hand'));
    if (outcome.ran) return reply.code(201).send(outcome.value);
    // The role left between the proxy's look and this one.
    return reply.code(503).header('retry-after', '1').send({ holder: outcome.currentHolder });
  });
  return app;
}
