import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RoleLease } from '@leasehold/core';
import { withFence } from '@leasehold/core/postgres';
import { roleHolderProxy, roleLeasePlugin } from '@leasehold/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';

/** One copy of the application. Start as many as you like: at any moment one of them holds `maintenance`. */
export async function buildApp(connectionString: string, label: string): Promise<FastifyInstance> {
  const app = Fastify({ logger: { level: process.env['LOG_LEVEL'] ?? 'info' } });

  // Registered before the leases, so closed after them: when the last run of the job has ended.
  const pool = new pg.Pool({ connectionString, max: 5 });
  pool.on('error', (error) => app.log.warn({ err: error }, 'an idle connection to PostgreSQL broke'));
  app.addHook('onClose', () => pool.end());

  await app.register(roleLeasePlugin, { pool, instance: { label }, roles: ['maintenance'], leaseDuration: '3s' });
  await app.register(roleHolderProxy, { role: 'maintenance', prefixes: ['/maintenance'], onRoleChange: 'close' });
  const lease = app.roleLeases.get('maintenance');

  // The job: on the holder alone. The fence keeps a holder that was frozen meanwhile from writing.
  const insert = 'insert into maintenance_run (instance, fencing_token) values ($1, $2)';
  app.addHook('onReady', async () => {
    lease.every('500ms', (term) =>
      withFence(pool, term, (client) => client.query(insert, [label, term.fencingToken]), { stallTimeout: '1s' }),
    );
  });

  // Every copy takes these requests, and the holder answers them.
  app.get('/maintenance/report', async () => ({ by: label, token: String(lease.fencingToken) }));
  app.get('/maintenance/events', (_request, reply) => {
    reply
      .type('text/event-stream')
      .header('cache-control', 'no-cache')
      .send(Readable.from(progress(lease, label)));
  });
  return app;
}

async function* progress(lease: RoleLease, by: string): AsyncGenerator<string> {
  for (let event = 1; lease.isHeld; event += 1) {
    yield `id: ${event}\ndata: ${JSON.stringify({ by, token: String(lease.fencingToken) })}\n\n`;
    await sleep(250);
  }
}
