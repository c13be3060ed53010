export { exponential, type ExponentialOptions, ladder } from './backoff.ts';
export type { Claim, ClaimOptions } from './claim.ts';
export type { SqlClient } from './client.ts';
export { workTable } from './create.ts';
export type { DdlOptions } from './ddl/ddl.ts';
export type { DoctorOptions } from './doctor/doctor.ts';
export type { Finding, FindingCode, Severity } from './doctor/findings.ts';
export type {
  After,
  BuryOptions,
  Fate,
  Outcome,
  OutcomeName,
  ReleaseOptions,
  RetryOptions,
  RowRef,
  SettleOptions,
} from './fate.ts';
export { type HeldRoles, heldRoles } from './held-roles.ts';
export { type HeadersLike, type ResponseLike, type RetryAfter, retryAfterMs, type RetryAfterOptions } from './retry-after.ts';
export type { SetValue, SetValues } from './set-values.ts';
export { empty, join, raw, Sql, sql } from './sql.ts';
export { errorText, storableText, type StorableTextOptions } from './storable.ts';
export type { CountsOptions, TableCounts, WorkCounts } from './upkeep/counts.ts';
export type { PurgeOptions } from './upkeep/purge.ts';
export type { RequeueOptions } from './upkeep/requeue.ts';
export type { WorkTable } from './work-table.ts';
export type { WorkTableOptions } from './work-table-options.ts';
export type { Job } from './worker/job.ts';
export { bury, done, type HandlerOutcome, type HandlerResult, release, retryIn } from './worker/outcome.ts';
export type { WorkOptions } from './worker/work-options.ts';
export type { StopOptions, Worker, WorkerStats } from './worker/worker.ts';
