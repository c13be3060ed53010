export type { Claim, ClaimOptions } from './claim.ts';
export type { SqlClient } from './client.ts';
export { workTable } from './create.ts';
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
export type { SetValue, SetValues } from './set-values.ts';
export { empty, join, raw, Sql, sql } from './sql.ts';
export type { WorkTable } from './work-table.ts';
export type { WorkTableOptions } from './work-table-options.ts';
