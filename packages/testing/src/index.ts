export { type PostgresOptions, startPostgres } from './postgres/start-postgres.ts';
export type { PostgresServer } from './postgres/postgres-server.ts';
export type { ShutdownMode } from './postgres/server-process.ts';
