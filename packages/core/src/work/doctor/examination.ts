import type { SqlClient } from '../client.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { runStatement, type StatementLimits } from '../run-statement.ts';
import type { Facts } from './facts.ts';
import type { Finding } from './findings.ts';

export interface Examination {
  readonly table: ResolvedWorkTable;
  readonly facts: Facts;
  /** The lease that is asked about, in milliseconds. */
  readonly leaseMs: number | null;
  /** From which age on a transaction is old, in milliseconds. */
  readonly oldSnapshotMs: number;
  readonly ask: <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;
}

/** One thing that is looked at. It changes nothing, and reads no more than the claim index and its rows. */
export type Check = (examination: Examination) => Promise<Finding[]> | Finding[];

/** Below this (1 MB), whatever the planner does is quick, and no table is worth a finding about its size. */
export const SMALL_PAGES = 128;

export function asker(client: SqlClient, limits: StatementLimits): Examination['ask'] {
  return (text, values = []) => runStatement(client, { text, values: [...values] }, limits);
}
