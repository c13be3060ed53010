import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ladder } from '@leasehold/core/work';
import pg from 'pg';
import { deliver, STEPS } from './deliver.ts';
import { deliveries } from './deliveries.ts';

const { DATABASE_URL = '', COPY = 'copy-A', PORT = '0' } = process.env;

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 4 });
pool.on('error', (error) => console.error(`an idle connection to PostgreSQL broke: ${error.message}`));
await pool.query(deliveries.ddl());

const worker = deliveries.work(pool, {
  handler: (row, job) => deliver(row, job, COPY),
  concurrency: 8,
  // Longer than any receiver asks to wait for: a worker that is killed forgets what it was asked, and its lease has to run out.
  lease: '5s',
  timeout: '2.5s',
  backoff: (attempt) => ladder(attempt, STEPS),
  errorColumn: 'error',
  maxIdle: '1s',
  onClaim: { worker: COPY },
});

/** How it gets on, for whoever asks. */
const server = createServer((_request, response) => response.end(JSON.stringify(worker.stats())));
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`${COPY} listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

/** What is under way is brought to its end, and what waits is handed back. */
async function stop(): Promise<void> {
  await worker.stop();
  server.close();
  server.closeAllConnections();
  await pool.end();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
