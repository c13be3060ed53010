import { leaseholdLifecycle } from '@leasehold/express';
import pg from 'pg';
import { buildApp } from './app.ts';

const { DATABASE_URL, COPY = 'copy-1', PORT = '3000' } = process.env;

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 5 });
pool.on('error', (error) => console.error('an idle connection to PostgreSQL broke:', error.message));

const { app, leasehold } = buildApp(pool, COPY);
const server = app.listen(Number(PORT), '127.0.0.1');

/** Everything graceful is in it: the role is given back, and another copy takes it at once. */
const lifecycle = leaseholdLifecycle(leasehold, server, { signals: ['SIGTERM', 'SIGINT'] });
await lifecycle.ready;
console.log(`${COPY} listens on ${leasehold.instance.address}`);

// The job needs the pool, so that is closed last.
await lifecycle.closed;
await pool.end();
console.log(`${COPY} has ended`);
