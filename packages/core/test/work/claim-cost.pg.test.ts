import { describe, expect } from 'vitest';
import { sql } from '@leasehold/core/work';
import type { Statement } from '../../src/work/run-statement.ts';
import { test, type TestDatabase } from '../../../../test/support/database.ts';
import { claimStatement, describeTable, nodesOf, type PlanNode, settleAlikeStatement, TOKEN } from './support/plans.ts';
import { addTasks, createTasks, taskOptions, tasksOf } from './support/tasks.ts';

const ROWS = 1_000;
const BATCH = 100;

interface WalNode extends PlanNode {
  readonly 'WAL Bytes': number;
  readonly 'WAL FPI': number;
}

/** Bytes of the write-ahead log for one row, from its claim until it is done. */
interface Wal {
  locks: number;
  claim: number;
  settle: number;
}

/** Runs a statement, for good, and answers what its parts have written: each node counts for those below it. */
async function walOf({ pool }: TestDatabase, { text, values }: Statement, cte: string): Promise<{ part: number; whole: number }> {
  const { rows } = await pool.query(`explain (analyze, wal, format json) ${text}`, values);
  const plan = rows[0]['QUERY PLAN'][0].Plan as WalNode;
  const part = nodesOf(plan).find((node) => node['Subplan Name'] === `CTE ${cte}`) as WalNode;
  return { part: part['WAL Bytes'], whole: plan['WAL Bytes'] };
}

async function walPerRow(database: TestDatabase): Promise<Wal> {
  const description = await describeTable(database, taskOptions(database, 'plain'));
  const sum: Wal = { locks: 0, claim: 0, settle: 0 };
  for (let n = 0; n < ROWS / BATCH; n++) {
    const claimed = await walOf(database, claimStatement(description, { limit: BATCH }), 'leasehold_next');
    const leased = await database.query<{ id: string }>(
      `select id from ${database.schema}.tasks where lock_id = $1 and completed_at is null`,
      [TOKEN],
    );
    expect(leased).toHaveLength(BATCH);
    const items = leased.map(
      ({ id }) => ({ ref: [id], outcome: 'done', refund: false, reason: null, after: null, set: [] }) as const,
    );
    const settled = await walOf(database, settleAlikeStatement(description, items), 'leasehold_wrote');
    sum.locks += claimed.part / ROWS;
    sum.claim += (claimed.whole - claimed.part) / ROWS;
    sum.settle += settled.whole / ROWS;
  }
  return sum;
}

const total = (wal: Wal): number => Object.values(wal).reduce((sum, bytes) => sum + bytes, 0);
const rounded = (wal: Wal): string =>
  JSON.stringify(wal, (_key, value: unknown) => (typeof value === 'number' ? Math.round(value) : value));

describe('the cost of a row, claim to done', () => {
  test('is at most 700 bytes of write-ahead log, for a narrow row', async ({ database }) => {
    const { query, schema } = database;
    await createTasks(database, 'plain');
    await query(`alter table ${schema}.tasks set (autovacuum_enabled = false)`);
    await addTasks(database, { count: ROWS });
    const withIndexes = await walPerRow(database);
    // The same without the claim index: a version of a row then stays on its page, and no index gets an entry for it.
    await query(`drop index ${schema}.tasks_claim; truncate ${schema}.tasks; alter table ${schema}.tasks set (fillfactor = 30)`);
    await addTasks(database, { count: ROWS });
    const without = await walPerRow(database);
    console.log(`WAL bytes per row ${rounded(withIndexes)}, without entries in indexes ${rounded(without)}`);
    expect(total(withIndexes)).toBeLessThanOrEqual(700);
    expect(total(withIndexes)).toBeGreaterThan(total(without));
  });

  test('is two statements for a batch, whatever its size and the outcomes', async ({ database }) => {
    await createTasks(database, 'plain');
    await addTasks(database, { count: 2 * BATCH });
    const statements: string[] = [];
    const client = {
      query: (text: string, values?: unknown[]) => {
        statements.push(text);
        return database.pool.query(text, values);
      },
    };
    const tasks = tasksOf(database, 'plain');
    for (let n = 0; n < 2; n++) {
      const claim = await tasks.claim(client, { limit: BATCH });
      await claim.settle(
        claim.rows.map((row, index) => {
          if (index % 3 === 0) return { row, outcome: 'done' };
          return index % 3 === 1 ? { row, outcome: 'retry', after: '1h' } : { row, outcome: 'bury', set: { payload: sql`null` } };
        }),
      );
    }
    // The first claim looks at the catalog, once.
    expect(statements).toHaveLength(1 + 2 * 2);
  });
});
