import { buildApplication } from './application.ts';

/** The application as a process of its own, which goes with its parent. */
const [connectionString = '', schema = '', label = ''] = process.argv.slice(2);
const app = buildApplication({ connectionString, schema, label });
process.on('disconnect', () => process.exit());
await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.(app.listeningOrigin);
