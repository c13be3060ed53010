/** A node of `explain (analyze, buffers, format json)`; buffers are with those of the nodes below. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly 'Actual Rows'?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface CandidateScan {
  readonly node: string;
  readonly rows: number;
  readonly buffers: number;
}

/** What finds the rows of a claim: whatever stands below the node that locks them. */
export function candidateScan(plan: PlanNode): CandidateScan {
  const scan = nodesOf(plan).find((node) => node['Node Type'] === 'LockRows')?.Plans?.[0];
  if (scan === undefined) throw new Error(`no rows are locked in ${JSON.stringify(plan)}`);
  const buffers = (scan['Shared Hit Blocks'] ?? 0) + (scan['Shared Read Blocks'] ?? 0);
  return { node: scan['Node Type'], rows: scan['Actual Rows'] ?? Number.NaN, buffers };
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
