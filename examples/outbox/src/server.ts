import { buildApp } from './app.ts';

const { DATABASE_URL, COPY = 'copy-1', PORT = '3000' } = process.env;

const app = await buildApp(DATABASE_URL, COPY);

/** Everything graceful is in it: the roles are given back when the deliveries under them have ended. */
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void app.close());

console.log(`${COPY} listens on ${await app.listen({ host: '127.0.0.1', port: Number(PORT) })}`);
