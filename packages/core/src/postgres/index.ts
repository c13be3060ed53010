export type { ConnectionSource } from './connection-config.ts';
export { createFence, type Fence, type FenceOptions, type Queryable, withFence, type WithFenceOptions } from './fence.ts';
export { grantsSql, migrationSql } from './migrate.ts';
export { type PostgresStore, postgresStore, type PostgresStoreOptions } from './postgres-store.ts';
