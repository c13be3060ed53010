import { roleLeasePlugin } from '@leasehold/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';
import { watchWorker } from './kill-point.ts';
import { outbox } from './outbox.ts';
import { addPage } from './page.ts';
import { addRoutes } from './routes.ts';
import { startWorker } from './worker.ts';

/** One process of the application. Start as many as you like: each role is held by one of them, which delivers what is for it. */
export async function buildApp(connectionString: string | undefined, label: string): Promise<FastifyInstance> {
  const app = Fastify({ logger: { level: process.env['LOG_LEVEL'] ?? 'error' } });

  // Registered before the leases, so closed after them: when the last delivery has ended.
  const pool = new pg.Pool({ connectionString, max: 10 });
  pool.on('error', (error) => app.log.warn({ err: error }, 'an idle connection to PostgreSQL broke'));
  app.addHook('onClose', () => pool.end());
  await pool.query(outbox.ddl());

  await app.register(roleLeasePlugin, { pool, instance: { label }, roles: ['billing', 'shipping'], leaseDuration: '3s' });
  app.addHook('onReady', async () => {
    watchWorker();
    const worker = startWorker(pool, app.leasehold);
    // Hooks that are added later run earlier: before the pool is closed.
    app.addHook('onClose', () => worker.stop());
  });
  addRoutes(app, pool);
  await addPage(app, { pool, label });
  return app;
}
