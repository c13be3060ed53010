import type { FastifyInstance } from 'fastify';
import { buildApp } from './app.ts';

const { DATABASE_URL = '', COPY = 'copy-1', PORT = '0' } = process.env;

export const app: FastifyInstance = await buildApp(DATABASE_URL, COPY);

/** Everything graceful is in `close()`: the role is given back, and another copy takes it at once. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close());

await app.listen({ host: '127.0.0.1', port: Number(PORT) });
