import { sql } from '@leasehold/core/work';
import { describe, expect } from 'vitest';
import type { Statement } from '../../src/work/run-statement.ts';
import { renewSql } from '../../src/work/statements/renew.ts';
import type { SettleItem } from '../../src/work/statements/settle-item.ts';
import type { TableDescription } from '../../src/work/table-description.ts';
import { test, type TestDatabase } from '../../../../test/support/database.ts';
import { type Crowd, CROWDS, crowdTasks, withStatistics } from './support/crowds.ts';
import {
  buffersOf,
  claimStatement,
  describeTable,
  partOf,
  planOf,
  readsOf,
  settleAlikeStatement,
  settleStatement,
  TOKEN,
} from './support/plans.ts';
import { taskOptions } from './support/tasks.ts';

const ROWS = 50;
const BY_ID = ['Bitmap Heap Scan ', 'Bitmap Index Scan tasks_pkey', 'Index Scan tasks_pkey'];

async function leaseSome({ query, schema }: TestDatabase): Promise<string[][]> {
  const rows = await query<{ id: string }>(
    `update ${schema}.tasks set lock_id = $1, locked_until = clock_timestamp() + interval '1 minute'
     where id in (select id from ${schema}.tasks where completed_at is null and locked_until is null order by id limit ${ROWS})
     returning id`,
    [TOKEN],
  );
  return rows.map(({ id }) => [id]);
}

/** Half of them finished, a quarter each to be tried again and put away. */
function settleAll(description: TableDescription, refs: readonly string[][]): Statement {
  const items = refs.map((ref, n): SettleItem => {
    const outcome = n % 2 === 0 ? 'done' : n % 4 === 1 ? 'retry' : 'bury';
    const base = { ref, outcome, refund: false, reason: null, after: outcome === 'retry' ? 1_000 : null } as const;
    return { ...base, set: [['payload', outcome === 'done' ? `sent ${n}` : sql`null`]] };
  });
  return settleStatement(description, items);
}

const doneWith = (ref: readonly string[], n: number): SettleItem => {
  return { ref, outcome: 'done', refund: false, reason: null, after: null, set: [['payload', `sent ${n}`]] };
};

describe('statements by id', () => {
  test.for(Object.keys(CROWDS) as Crowd[])(
    'look rows up by the primary key, beside many that are %s',
    async (crowd, { database }) => {
      const figures: Record<string, string> = {};
      await crowdTasks(database, 'plain', { crowd });
      const description = await describeTable(database, taskOptions(database, 'plain'));
      const refs = await leaseSome(database);
      await withStatistics(database, async (statistics) => {
        const settle = await planOf(database.pool, settleAll(description, refs));
        const alike = await planOf(database.pool, settleAlikeStatement(description, refs.map(doneWith)));
        const renew = await planOf(database.pool, renewSql(description, { token: TOKEN, leaseMs: 60_000, refs }));
        expect(BY_ID).toEqual(expect.arrayContaining(readsOf([settle, alike, renew], 'tasks')));
        // A look-up costs three pages of the index and one of the table; a row that is written, its entries in two indexes.
        expect(buffersOf(settle)).toBeLessThan(ROWS * 30);
        expect(buffersOf(alike)).toBeLessThan(ROWS * 15);
        expect(buffersOf(renew)).toBeLessThan(ROWS * 40);
        figures[statistics] = `${buffersOf(settle)}, ${buffersOf(alike)}, ${buffersOf(renew)}`;
      });
      console.log(`settle, settle alike, renew ${ROWS} rows, ${crowd}: buffers ${JSON.stringify(figures)}`);
    },
  );

  test('of a burial too', async ({ database }) => {
    await crowdTasks(database, 'plain', { crowd: 'backlog' });
    await database.query(`update ${database.schema}.tasks set attempts = 3 where id % 2 = 0`);
    const description = await describeTable(database, taskOptions(database, 'plain'));
    await withStatistics(database, async () => {
      const plan = await planOf(database.pool, claimStatement(description, { limit: ROWS }));
      const buried = partOf(plan, 'leasehold_buried_rows');
      // As far as the candidates reached: one less than these, of every second row.
      expect(buried['Actual Rows']).toBe(ROWS - 1);
      expect(BY_ID).toEqual(expect.arrayContaining(readsOf([buried], 'tasks')));
      expect(buffersOf(partOf(plan, 'leasehold_spent'))).toBeLessThan(ROWS * 5);
    });
  });
});
