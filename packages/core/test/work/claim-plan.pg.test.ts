import type { ClaimOptions } from '@leasehold/core/work';
import { describe, expect } from 'vitest';
import { test, type TestDatabase } from '../../../../test/support/database.ts';
import { type Crowd, CROWDS, crowdTasks, withStatistics } from './support/crowds.ts';
import {
  buffersOf,
  candidatesOf,
  claimStatement,
  describeTable,
  locksOf,
  partOf,
  type PlanNode,
  planOf,
  readsOf,
} from './support/plans.ts';
import type { ClaimRequest } from '../../src/work/statements/claim-request.ts';
import { type Form, taskOptions } from './support/tasks.ts';

const LIMIT = 50;

interface Kind {
  readonly form: Form;
  readonly options: ClaimOptions;
  /** Of rows that are due in what the claim looks at: all 500, those of one tenant, those of one tenant and region. */
  readonly rows: number;
  /** Pages that the scans for a claim of 50 may look at, beside one look for each row that is locked. */
  readonly most: number;
}

/**
 * All groups: a few pages for each that is looked at, 20 or 50 here, whatever is in them. With priorities also, for each and for
 * those that are not listed.
 */
const KINDS: Readonly<Record<string, Kind>> = {
  plain: { form: 'plain', options: {}, rows: 50, most: 30 },
  'by priority': { form: 'priority', options: {}, rows: 50, most: 40 },
  'one group': { form: 'group', options: { group: { tenant: 't3' } }, rows: 25, most: 30 },
  'one group of two columns': { form: 'groups', options: { group: { tenant: 't3', region: 1 } }, rows: 8, most: 40 },
  'one group by priority': { form: 'both', options: { group: { tenant: 't3' } }, rows: 25, most: 80 },
  'all groups': { form: 'group', options: {}, rows: 50, most: 20 * 12 },
  'all groups of two columns': { form: 'groups', options: {}, rows: 50, most: 50 * 12 },
  'all groups by priority': { form: 'both', options: {}, rows: 50, most: 20 * 24 },
};

async function planOfClaim(database: TestDatabase, { form, options }: Kind, more: Partial<ClaimRequest> = {}): Promise<PlanNode> {
  const description = await describeTable(database, taskOptions(database, form));
  return planOf(database.pool, claimStatement(description, { limit: LIMIT, ...options }, more));
}

const BY_INDEX = ['Index Scan tasks_claim', 'Index Only Scan tasks_claim'];
const BY_ID = ['Index Scan tasks_pkey', 'Bitmap Index Scan tasks_pkey', 'Bitmap Heap Scan '];

/** Answers what the scans and the locks have cost. */
function check(plan: PlanNode, { rows, most }: Kind, crowd: Crowd): string {
  const parts = candidatesOf(plan);
  const [due, spent] = [partOf(plan, 'leasehold_next'), partOf(plan, 'leasehold_spent')];
  const locks = parts.reduce((sum, part) => sum + locksOf(part), 0);
  const scans = buffersOf(due) - locks;
  expect(plan['Actual Rows']).toBe(crowd === 'backlog' ? LIMIT : rows);
  // Each row of a table that was vacuumed costs a second look, at the visibility map.
  expect(locks).toBeLessThanOrEqual(2 * LIMIT);
  expect(scans).toBeLessThanOrEqual(most);
  expect(buffersOf(spent)).toBeLessThanOrEqual(most);
  expect(readsOf(parts, 'tasks').length).toBeGreaterThan(0);
  expect(BY_INDEX).toEqual(expect.arrayContaining(readsOf([...parts, spent], 'tasks')));
  expect([...BY_INDEX, ...BY_ID]).toEqual(expect.arrayContaining(readsOf([plan], 'tasks')));
  // From 100,000 on, PostgreSQL compiles a statement, which takes longer than running it.
  expect(plan['Total Cost']).toBeLessThan(20_000);
  return `${scans}+${locks}, ${buffersOf(spent)}`;
}

describe.for(Object.keys(KINDS))('the plan of a claim, %s,', (name) => {
  const kind = KINDS[name] as Kind;

  test.for(Object.keys(CROWDS) as Crowd[])('reads the due rows alone, beside many that are %s', async (crowd, { database }) => {
    const figures: Record<string, string> = {};
    await crowdTasks(database, kind.form, { crowd, share: name === 'plain' ? 1 : 0.3 });
    await withStatistics(database, async (statistics) => {
      figures[statistics] = check(await planOfClaim(database, kind), kind, crowd);
    });
    console.log(`claim of ${LIMIT}, ${name}, ${crowd}: buffers of scans+locks, spent ${JSON.stringify(figures)}`);
  });

  test('does not depend on how many are finished', async ({ database }) => {
    const buffers: number[] = [];
    for (const rows of [2_000, 50_000]) {
      await crowdTasks(database, kind.form, { crowd: 'finished', rows });
      buffers.push(buffersOf(partOf(await planOfClaim(database, kind), 'leasehold_next')));
    }
    expect(buffers[1]).toBeLessThanOrEqual((buffers[0] ?? 0) + 5);
  });
});

test.for(['plain', 'by priority', 'all groups'])(
  'the plan of a claim, %s, steps over rows that are left out',
  async (name, { database }) => {
    const kind = KINDS[name] as Kind;
    await crowdTasks(database, kind.form, { crowd: 'leased', share: 0.3 });
    const due = await database.query<{ id: string }>(
      `select id from ${database.schema}.tasks where lock_id is null order by id limit 100`,
    );
    const without = due.map(({ id }) => [id]);
    await withStatistics(database, async () => {
      const [all, some] = [await planOfClaim(database, kind), await planOfClaim(database, kind, { without })];
      expect(some['Actual Rows']).toBe(LIMIT);
      expect(BY_INDEX).toEqual(expect.arrayContaining(readsOf(candidatesOf(some), 'tasks')));
      // A look at each row that is left out, and at no other.
      expect(buffersOf(partOf(some, 'leasehold_next'))).toBeLessThanOrEqual(
        buffersOf(partOf(all, 'leasehold_next')) + 2 * without.length,
      );
    });
  },
);
