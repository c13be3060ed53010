import { startApp } from './app.ts';

const { DATABASE_URL = '', COPY = 'copy-A', PORT = '0', GATEWAY_PORT = '' } = process.env;

const app = await startApp({
  connectionString: DATABASE_URL,
  label: COPY,
  port: Number(PORT),
  gateway: { host: '127.0.0.1', port: Number(GATEWAY_PORT) },
});
console.log(`${COPY} listens on ${app.origin}`);

/** Everything graceful is in `close()`: the devices are handed over, and connected by the others at once. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close());
