import { readFile } from 'node:fs/promises';
import { PassThrough, type Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { readQueue } from './queue-state.ts';

const PAGE = new URL('../public/index.html', import.meta.url);
const LOOK_MS = 500;

interface PageOptions {
  readonly pool: Pool;
  readonly label: string;
}

/** The page, and its events: how the queue is, twice a second. */
export async function addPage(app: FastifyInstance, { pool, label }: PageOptions): Promise<void> {
  const page = await readFile(PAGE);
  // Or the server would wait for the pages that are open.
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  app.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(page));
  app.get('/events', (_request, reply) =>
    reply.type('text/event-stream').header('cache-control', 'no-cache').send(eventStream({ pool, label }, closing.signal)),
  );
}

function eventStream({ pool, label }: PageOptions, closing: AbortSignal): Readable {
  const stream = new PassThrough();
  stream.write('retry: 300\n\n');
  const fill = async (): Promise<void> => {
    while (!closing.aborted && !stream.destroyed) {
      const targets = await readQueue(pool);
      stream.write(`data: ${JSON.stringify({ through: label, targets })}\n\n`);
      await sleep(LOOK_MS, undefined, { signal: closing });
    }
  };
  // Without the database, and at the end, the stream ends; the page comes back by itself.
  void fill()
    .catch(() => {})
    .finally(() => stream.end());
  return stream;
}
