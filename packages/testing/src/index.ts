export { type PostgresOptions, startPostgres } from './postgres/start-postgres.ts';
export type { PostgresServer } from './postgres/postgres-server.ts';
export type { ShutdownMode } from './postgres/server-process.ts';
export { startTcpProxy, type TcpProxy, type TcpProxyOptions } from './faults/tcp-proxy.ts';
export { type ManualClock, type ManualClockOptions, manualClock } from './manual-clock.ts';
export type { ConformanceCase, ConformanceHarness } from './conformance/harness.ts';
export { leaseStoreConformance } from './conformance/lease-store-conformance.ts';
export type { OtherInstance } from './scripted-store.ts';
export { type LossReason, type TestLeasehold, testLeasehold, type TestLeaseholdOptions } from './test-leasehold.ts';
