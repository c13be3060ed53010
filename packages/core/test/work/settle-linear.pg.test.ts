import type { SqlClient } from '@leasehold/core/work';
import { expect } from 'vitest';
import { test } from '../../../../test/support/database.ts';
import { createDeliveries, deliveriesOf } from './support/deliveries.ts';

const ROWS = 500;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

const compared = (node: PlanNode): number => (node['Rows Removed by Join Filter'] ?? 0) * node['Actual Loops'];

test('settling many rows in several ways compares no row with every other', async ({ database }) => {
  await createDeliveries(database, 10_000);
  await database.query(`analyze ${database.schema}.deliveries`);
  const plans: PlanNode[] = [];
  const explaining: SqlClient = {
    query: async (text, values) => {
      const { rows } = await database.pool.query(`explain (analyze, format json) ${text}`, values);
      const [{ Plan: plan }] = (rows as [{ 'QUERY PLAN': [{ Plan: PlanNode }] }])[0]['QUERY PLAN'];
      plans.push(plan);
      return { rows: [] };
    },
  };
  const claim = await deliveriesOf(database).claim(database.pool, { limit: ROWS });
  await claim.settle(
    claim.rows.map((row, n) =>
      n % 2 === 0 ? { row, outcome: 'done' } : { row, outcome: 'retry', after: '1m', set: { error: `failed ${n}` } },
    ),
    { client: explaining },
  );
  claim.close();
  const nodes = plans.flatMap(nodesOf);
  expect(nodes.some((node) => node['Node Type'] === 'LockRows')).toBe(true);
  expect(nodes.reduce((sum, node) => sum + compared(node), 0)).toBeLessThan(ROWS);
});
