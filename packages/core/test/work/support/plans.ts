import type pg from 'pg';
import { resolveClaimOptions } from '../../../src/work/claim-options.ts';
import type { ClaimOptions } from '../../../src/work/claim.ts';
import { resolveWorkTable } from '../../../src/work/resolve-work-table.ts';
import type { Statement } from '../../../src/work/run-statement.ts';
import { claimSql } from '../../../src/work/statements/claim.ts';
import { type ClaimRequest, FIRST_ROUND } from '../../../src/work/statements/claim-request.ts';
import type { SettleItem } from '../../../src/work/statements/settle-item.ts';
import { settleAlikeSql } from '../../../src/work/statements/settle-alike.ts';
import { splitByShape } from '../../../src/work/statements/settle-parts.ts';
import { settleSql } from '../../../src/work/statements/settle.ts';
import { DESCRIBE_SQL, type DescribedColumn } from '../../../src/work/statements/describe.ts';
import { TableDescription } from '../../../src/work/table-description.ts';
import type { WorkTableOptions } from '../../../src/work/work-table-options.ts';
import type { TestDatabase } from '../../../../../test/support/database.ts';

export const TOKEN = '00000000-0000-4000-8000-000000000001';

/** A node of a plan, as `explain (format json)` gives it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Subplan Name'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Total Cost': number;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

export async function describeTable(database: TestDatabase, options: WorkTableOptions): Promise<TableDescription> {
  const table = resolveWorkTable(options);
  const rows = await database.query(DESCRIBE_SQL, [table.table.quoted, [...table.id]]);
  return new TableDescription(table, rows as unknown as DescribedColumn[]);
}

/** The very statement of a claim. */
export function claimStatement(
  description: TableDescription,
  options: ClaimOptions,
  more: Partial<ClaimRequest> = {},
): Statement {
  const resolved = resolveClaimOptions(description.table, options);
  const request = { ...resolved, token: TOKEN, columns: ['id'], givenUpAfterMs: null, without: [], round: FIRST_ROUND };
  return claimSql(description, { ...request, ...more });
}

/** The plan of a statement that was run, and rolled back. */
export async function planOf(pool: pg.Pool, { text, values }: Statement): Promise<PlanNode> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values);
    return rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** The very statement of a settlement. */
export function settleStatement(description: TableDescription, items: readonly SettleItem[]): Statement {
  const [part] = splitByShape(items);
  if (part === undefined) throw new Error('nothing to settle');
  return settleSql(description, part, { token: TOKEN, isRepeated: false, lockTimeoutMs: null });
}

/** The same for rows of one shape. */
export function settleAlikeStatement(description: TableDescription, items: readonly SettleItem[]): Statement {
  const [shape, ...more] = splitByShape(items)[0]?.shapes ?? [];
  const statementOf = shape === undefined || more.length > 0 ? null : settleAlikeSql(description, shape);
  if (statementOf === null) throw new Error('these are not settled alike');
  return statementOf({ token: TOKEN, isRepeated: false, lockTimeoutMs: 4_000 });
}

export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

export function partOf(plan: PlanNode, cte: string): PlanNode {
  const found = nodesOf(plan).find((node) => node['Subplan Name'] === `CTE ${cte}`);
  if (found === undefined) throw new Error(`the plan has no CTE ${cte}`);
  return found;
}

/** Pages that a node and those below it have looked at. */
export function buffersOf(node: PlanNode): number {
  return node['Shared Hit Blocks'] + node['Shared Read Blocks'];
}

/** The CTEs in which a claim looks for its rows. */
const CANDIDATES = new Set(
  ['leasehold_walk', 'leasehold_groups', 'leasehold_first', 'leasehold_second', 'leasehold_next'].map((name) => `CTE ${name}`),
);

export function candidatesOf(plan: PlanNode): PlanNode[] {
  return nodesOf(plan).filter((node) => CANDIDATES.has(node['Subplan Name'] ?? ''));
}

/** Looks at pages for the sake of locking rows alone. */
export function locksOf(plan: PlanNode): number {
  const locks = nodesOf(plan).filter((node) => node['Node Type'] === 'LockRows');
  return locks.reduce(
    (sum, node) => sum + buffersOf(node) - (node.Plans ?? []).reduce((below, one) => below + buffersOf(one), 0),
    0,
  );
}

/** In which ways plans come to the rows of a table: what was not run is left out, and each way told once. */
export function readsOf(plans: readonly PlanNode[], table: string): string[] {
  const nodes = plans.flatMap(nodesOf).filter((node) => node['Relation Name'] === table || node['Index Name']?.startsWith(table));
  const scans = nodes.filter((node) => node['Node Type'] !== 'ModifyTable' && node['Actual Loops'] > 0);
  return [...new Set(scans.map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`))].toSorted();
}
