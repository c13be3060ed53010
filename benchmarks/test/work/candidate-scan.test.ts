import { expect, it } from 'vitest';
import { candidateScan, type PlanNode } from '../../src/work/candidate-scan.ts';

const locked = (scan: PlanNode): PlanNode => ({
  'Node Type': 'ModifyTable',
  'Shared Hit Blocks': 900,
  Plans: [
    { 'Node Type': 'Limit', Plans: [{ 'Node Type': 'LockRows', 'Shared Hit Blocks': 104, Plans: [scan] }] },
    { 'Node Type': 'Index Scan', 'Shared Hit Blocks': 300, 'Actual Rows': 1 },
  ],
});

it('is what stands below the node that locks, with what it read and what it found in memory', () => {
  const scan = { 'Node Type': 'Index Scan', 'Shared Hit Blocks': 50, 'Shared Read Blocks': 4, 'Actual Rows': 50 };
  expect(candidateScan(locked(scan))).toEqual({ node: 'Index Scan', rows: 50, buffers: 54 });
});

it('has the buffers of what it sorts', () => {
  const scan = {
    'Node Type': 'Sort',
    'Shared Hit Blocks': 5_104,
    'Actual Rows': 50,
    Plans: [{ 'Node Type': 'Seq Scan', 'Shared Hit Blocks': 5_104, 'Actual Rows': 500_000 }],
  };
  expect(candidateScan(locked(scan))).toEqual({ node: 'Sort', rows: 50, buffers: 5_104 });
});

it('is in no plan that locks nothing', () => {
  expect(() => candidateScan({ 'Node Type': 'Seq Scan' })).toThrow('no rows are locked');
});
